import Glibc

/// What became of the file of a completed download since its download ended.
public enum CompletedFileFate: String, Codable, Sendable, CaseIterable {
    /// The file has the size and the time of change that it was left with.
    case there
    /// Nothing has the file's name any more.
    case gone
    /// The name leads to another file, or the file was written to.
    case changed
}

extension CompletedFileFate: CustomStringConvertible {
    /// For people, after the word "completed".
    public var description: String {
        switch self {
        case .there: "file is there"
        case .gone: "file is gone"
        case .changed: "file was changed"
        }
    }
}

extension CompletedFile {
    /// Compares the file with what a look at its path found. A copy with the same size and time of change counts as the
    /// file, because backups and moves between disks make such copies.
    /// - Returns: nil where the look failed, so that nothing can be told.
    package func fate(_ look: FileStatus.Look) -> CompletedFileFate? {
        switch look {
        case .unknown: nil
        case .absent: .gone
        // Without an inode the record only says that there was a file.
        case .found where identity.inode == 0: .there
        case .found(let now): now.isRegular && now.size == bytes && now.modified == modified ? .there : .changed
        }
    }
}

extension DownloadRecord {
    /// Looks once at the file of a completed download (one `statx`).
    /// - Returns: nil for a download without a finished file, and where the look fails (a folder that may not be
    ///   entered).
    package var completedFileFate: CompletedFileFate? {
        guard state == .completed else { return nil }
        if let completed { return completed.isStream ? nil : completed.fate(.of(completed.path)) }
        // The record of the file is missing: only the existence of the name can be asked.
        switch finalPath.map(FileStatus.Look.of) {
        case nil, .unknown: return nil
        case .absent: return .gone
        case .found: return .there
        }
    }

    /// Whether the download is to be fetched again when it is resumed: its finished file is gone. A program that ran at
    /// the end may have moved the file, and a changed file is the user's.
    package var lacksFile: Bool { completedFileFate == .gone && !runsProgramAtEnd }

    /// Whether a program was started with the finished file (``Hooks``).
    package var runsProgramAtEnd: Bool { request.hooks?.onComplete != nil }

    /// Why a completed download is not what it was any more; nil while its file is there.
    package func failure(of fate: CompletedFileFate?) -> DownloadError? {
        guard let fate, fate != .there, let path = completed?.path ?? finalPath else { return nil }
        return .completedFile(fate, path: path)
    }
}

extension FileStatus {
    /// The answer to a question about a path.
    package enum Look: Equatable, Sendable {
        case found(Info)
        case absent
        /// The path cannot be looked at; with errno.
        case unknown(Int32)

        package static func of(_ path: String) -> Look {
            if let info = FileStatus.of(path) { return .found(info) }
            let code = errno
            return code == ENOENT || code == ENOTDIR ? .absent : .unknown(code)
        }
    }
}
