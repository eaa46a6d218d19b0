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

extension DownloadRecord {
    /// Whether the download has a program that is run when the file is finished (``Hooks``).
    package var runsProgramAtEnd: Bool { request.hooks?.onComplete != nil }

    /// Returns the error for a completed download whose file is gone or was changed. Returns nil if the file is
    /// unchanged.
    package func failure(of fate: CompletedFileFate?) -> DownloadError? {
        guard let fate, fate != .there, let path = completed?.path ?? finalPath else { return nil }
        return .completedFile(fate, path: path)
    }
}
