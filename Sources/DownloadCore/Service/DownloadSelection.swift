/// Which downloads a command means.
package struct DownloadSelection: Sendable, Equatable, Codable {
    package enum Which: Sendable, Equatable, Codable {
        case ids([DownloadID])
        case states(Set<DownloadState.Kind>)
        /// Those whose final name is, or will be, this one in this folder.
        case file(folder: String, name: String)
        case all
    }

    package var which: Which
    /// The newest so many; behind `after`, the first so many.
    package var limit: Int?
    /// Only higher numbers: a long list is read page by page.
    package var after: DownloadID?

    package init(_ which: Which, limit: Int? = nil, after: DownloadID? = nil) {
        self.which = which
        self.limit = limit
        self.after = after
    }

    package static func ids(_ ids: [DownloadID]) -> Self { Self(.ids(ids)) }
    package static let all = Self(.all)
}
