/// Whatever answers for downloads, in this process or another: all that a command knows.
package protocol DownloadService: Sendable {
    /// Finds or makes a download for each request, in order, and gets to work.
    func add(_ requests: [DownloadRequest]) async throws -> [AddedDownload]
    /// Goes on with downloads that were paused, interrupted, cancelled or failed.
    /// - Parameter overrides: secrets given again, merged into each request.
    func resume(_ ids: [DownloadID], overrides: RequestOverrides) async throws -> [ClaimedDownload]
    /// Pauses, cancels or changes downloads, running or not, and returns them as they are then, on disk. Nothing is
    /// done before all ids are known; a download for which there is nothing to do is left alone and told as such.
    func change(_ ids: [DownloadID], _ change: DownloadChange) async throws -> [ChangedDownload]
    /// Forgets them and deletes their partial files; the finished file only when asked to. What runs is stopped first.
    func remove(_ ids: [DownloadID], deletesFile: Bool) async throws
    func snapshots(_ selection: DownloadSelection) async throws -> [DownloadSnapshot]
    /// The downloads at work now, for display.
    func progress() async -> [DownloadProgress]
    /// What happens to the downloads of this service from now on.
    func events() async -> DownloadEvents
    /// Every change in the store behind `cursor` (nil: from now on), whichever session made it, and what follows.
    func log(since cursor: EventCursor?) async throws -> AsyncThrowingStream<LogEntry, any Error>
    /// Returns if it answers and can be worked with: it is not about to end. Cheap, whatever is in its queue.
    func checkAvailability() async throws
    func status() async throws -> SessionStatus
    /// Changes how the session works, at once.
    func configure(_ settings: SessionSettings) async throws
    /// Asks the session to end; it has not ended when this returns.
    func shutdown(_ mode: ShutdownMode) async throws
    /// Stops what runs in this process, with its resume data on disk; what was asked for stays resumable.
    func pauseAll(_ reason: DownloadState.PauseReason) async
    /// Ends the service; its streams finish.
    func close() async
}

extension DownloadService {
    package func checkAvailability() async throws { _ = try await status() }
    package func pause(_ ids: [DownloadID]) async throws -> [ChangedDownload] { try await change(ids, .pause) }
    /// Stops them for good, but keeps what was fetched: `resume` may still go on.
    package func cancel(_ ids: [DownloadID]) async throws -> [ChangedDownload] { try await change(ids, .cancel) }
}

/// What may be given anew when a download is resumed.
package struct RequestOverrides: Sendable, Equatable {
    package var headers: [RequestHeader] = []
    package var http = HTTPOptions()
    package var credential: Credential?
    package var secretFiles = SecretFiles()
    package var trust: ServerTrustPolicy?
    package var network = NetworkSettings()
    /// See ``RedirectPolicy/schemes``.
    package var schemes: [String]?
    package var connections: Int?
    /// Only true makes a difference: see ``DownloadRequest/acceptsUnverified``.
    package var acceptsUnverified = false
    /// Not here, but in the background session.
    package var inBackground = false

    package init() {}

    var changesRequests: Bool {
        var unchanging = RequestOverrides()
        unchanging.inBackground = inBackground
        return self != unchanging
    }

    /// A request with what is given anew in place of what it had.
    package func applied(to request: DownloadRequest) -> DownloadRequest {
        var result = request
        for header in headers {
            result.headers.removeAll { $0.name.lowercased() == header.name.lowercased() }
        }
        result.headers += headers
        result.http.take(http)
        result.credential = credential ?? result.credential
        result.secretFiles.take(secretFiles)
        if let trust { result.trust.take(trust) }
        result.network.take(network)
        result.redirect.schemes = schemes ?? result.redirect.schemes
        if let connections { result.connections = connections }
        if acceptsUnverified { result.acceptsUnverified = true }
        return result
    }
}
