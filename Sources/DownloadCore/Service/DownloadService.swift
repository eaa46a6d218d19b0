/// Whatever answers for downloads, in this process or another: all that a command knows.
public protocol DownloadService: Sendable {
    /// Finds or makes a download for each request, in order, and gets to work.
    func add(_ requests: [DownloadRequest]) async throws -> [AddedDownload]
    /// Goes on with downloads that were paused, interrupted, cancelled or failed.
    /// - Parameter overrides: secrets given again, merged into each request.
    func resume(_ ids: [DownloadID], overrides: RequestOverrides) async throws -> [ClaimedDownload]
    func snapshots(_ selection: DownloadSelection) async throws -> [DownloadSnapshot]
    /// Forgets them and deletes their partial files; the finished file only when asked to.
    func remove(_ ids: [DownloadID], deletesFile: Bool) async throws
    /// The downloads at work now, for display.
    func progress() async -> [DownloadProgress]
    func events() async -> AsyncStream<DownloadEvent>
    /// Stops everything with its resume data on disk; what was asked for stays resumable.
    func pauseAll(_ reason: DownloadState.PauseReason) async
    /// Ends the service; its streams finish.
    func close() async
}

/// What may be given anew when a download is resumed.
public struct RequestOverrides: Sendable, Equatable {
    public var headers: [RequestHeader] = []
    public var trust: ServerTrustPolicy?
    public var connections: Int?

    public init() {}

    func applied(to request: DownloadRequest) -> DownloadRequest {
        var result = request
        for header in headers {
            result.headers.removeAll { $0.name.lowercased() == header.name.lowercased() }
        }
        result.headers += headers
        if let trust { result.trust = trust }
        if let connections { result.connections = connections }
        return result
    }
}
