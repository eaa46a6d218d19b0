import Glibc

/// What happened to the file of a completed download after the download ended.
public enum CompletedFileFate: String, Codable, Sendable, CaseIterable {
    /// The file still has the size and the modification time that it had when the download ended.
    case there
    /// There is no file at the path any more.
    case gone
    /// The path leads to another file, or the file was written to.
    case changed
}

extension CompletedFileFate: CustomStringConvertible {
    /// The text for users, after the word "completed".
    public var description: String {
        switch self {
        case .there: "file is there"
        case .gone: "file is gone"
        case .changed: "file was changed"
        }
    }
}

extension CompletedFile {
    /// Returns what happened to the file, judged from the status of its path. A copy with the same size and
    /// modification time counts as the file, because backups and moves between disks make such copies.
    /// - Returns: Nil if the status could not be read, so that nothing is known about the file.
    package func fate(_ look: FileStatus.Look) -> CompletedFileFate? {
        switch look {
        case .unknown: nil
        case .absent: .gone
        // A record without an inode only shows that there was a file.
        case .found where identity.inode == 0: .there
        case .found(let now): now.isRegular && now.size == bytes && now.modified == modified ? .there : .changed
        }
    }
}

extension DownloadRecord {
    /// What happened to the file of a completed download, found with one `statx` call.
    /// - Returns: Nil for a download without a finished file, and if the status cannot be read, for example in a folder
    ///   that the user may not enter.
    package var completedFileFate: CompletedFileFate? {
        guard state == .completed else { return nil }
        if let completed { return completed.isStream ? nil : completed.fate(.of(completed.path)) }
        // The record has no description of the file, so only the existence of the name can be checked.
        switch finalPath.map(FileStatus.Look.of) {
        case nil, .unknown: return nil
        case .absent: return .gone
        case .found: return .there
        }
    }

    /// Whether the finished file is gone, so that the download is fetched again when it is resumed. False if a program
    /// was run at the end, because this program may have moved the file. Also false for a changed file, because the
    /// change is the user's.
    package var lacksFile: Bool { completedFileFate == .gone && !runsProgramAtEnd }

    /// Whether the download has a program that is run when the file is finished (``Hooks``).
    package var runsProgramAtEnd: Bool { request.hooks?.onComplete != nil }

    /// Returns the error for a completed download whose file is gone or was changed. Returns nil if the file is
    /// unchanged.
    package func failure(of fate: CompletedFileFate?) -> DownloadError? {
        guard let fate, fate != .there, let path = completed?.path ?? finalPath else { return nil }
        return .completedFile(fate, path: path)
    }

    /// Forgets the file of a completed download if the file is gone, so that the download begins like a new one. A
    /// partial file of the same name belongs to another download.
    package mutating func forgetLostFile() {
        guard let completed, !completed.isStream, !isFinishing, resume == resume.afterCompletion, resume.sources == nil,
            !request.repairs, fileName.map({ $0 == FileNaming.lastComponent(completed.path) }) ?? true,
            completed.fate(.of(completed.path)) == .gone
        else { return }
        fileName = nil
        self.completed = nil
        resume = ResumeData()
    }
}

extension FileStatus {
    /// The result of reading the status of a path.
    package enum Look: Equatable, Sendable {
        case found(Info)
        case absent
        /// The status cannot be read, with the error number.
        case unknown(Int32)

        package static func of(_ path: String) -> Look {
            if let info = FileStatus.of(path) { return .found(info) }
            let code = errno
            return code == ENOENT || code == ENOTDIR ? .absent : .unknown(code)
        }
    }
}
