/// Which downloads a command means.
public struct DownloadSelection: Sendable, Equatable, Codable {
    public enum Which: Sendable, Equatable, Codable {
        case ids([DownloadID])
        case states(Set<DownloadState.Kind>)
        case all
    }

    public var which: Which
    /// The newest so many.
    public var limit: Int?

    public init(_ which: Which, limit: Int? = nil) {
        self.which = which
        self.limit = limit
    }

    public static func ids(_ ids: [DownloadID]) -> Self { Self(.ids(ids)) }
    public static let all = Self(.all)
}
