/// Which downloads a command means.
public struct DownloadSelection: Sendable, Equatable, Codable {
    public enum Which: Sendable, Equatable, Codable {
        case ids([DownloadID])
        case states(Set<DownloadState.Kind>)
        /// Those whose final name is, or will be, this one in this folder.
        case file(folder: String, name: String)
        case all
    }

    public var which: Which
    /// The newest so many; behind `after`, the first so many.
    public var limit: Int?
    /// Only higher numbers: a long list is read page by page.
    public var after: DownloadID?

    public init(_ which: Which, limit: Int? = nil, after: DownloadID? = nil) {
        self.which = which
        self.limit = limit
        self.after = after
    }

    public static func ids(_ ids: [DownloadID]) -> Self { Self(.ids(ids)) }
    public static let all = Self(.all)
}
