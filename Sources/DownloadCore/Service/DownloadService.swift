/// A service that manages downloads, in this process or another. Commands reach downloads only through a service.
package protocol DownloadService: Sendable {
    /// Finds or creates a download for each request, in order, and starts the work.
    func add(_ requests: RequestList) async throws -> [AddedDownload]
    /// Prepares an addition, so that a part of a list can be prepared while the part before is recorded.
    func prepareAddition(of requests: RequestList) throws -> PreparedAddition
    /// Continues downloads that were paused, interrupted, cancelled or failed.
    /// - Parameter overrides: secrets and other values that are given again. They are merged into each request.
    func resume(_ ids: [DownloadID], overrides: RequestOverrides) async throws -> [ClaimedDownload]
    /// Pauses, cancels or changes downloads, running or not, and returns them as stored after the change. If one id is
    /// unknown, nothing is changed. A download that already has the wanted value or state is returned unchanged.
    func change(_ ids: [DownloadID], _ change: DownloadChange) async throws -> [ChangedDownload]
    /// Removes downloads from the store and deletes their partial files, and their finished files if `deletesFile` is
    /// true. Running downloads are stopped first.
    func remove(_ ids: [DownloadID], deletesFile: Bool) async throws
    func snapshots(_ selection: DownloadSelection) async throws -> [DownloadSnapshot]
    /// Returns the progress of the active downloads, for display.
    func progress() async -> [DownloadProgress]
    /// Returns the events of the downloads of this service from now on.
    func events() async -> DownloadEvents
    /// Returns all changes in the store after `cursor`, by any session, and then new ones as they happen. If `cursor`
    /// is nil, only new changes are returned.
    func log(since cursor: EventCursor?) async throws -> AsyncThrowingStream<LogEntry, any Error>
    /// Throws if the service does not answer or is about to end. The check is fast, however long the queue is.
    func checkAvailability() async throws
    func status() async throws -> SessionStatus
    /// Changes the settings of the session at once.
    func configure(_ settings: SessionSettings) async throws
    /// Asks the session to end, and returns before it has ended.
    func shutdown(_ mode: ShutdownMode) async throws
    /// Pauses the downloads of this process, with their resume data on disk. They can be resumed later.
    func pauseAll(_ reason: DownloadState.PauseReason) async
    /// Ends the service and its streams.
    func close() async
}

extension DownloadService {
    package func add(_ requests: [DownloadRequest]) async throws -> [AddedDownload] {
        try await add(RequestList(requests))
    }

    package func prepareAddition(of requests: RequestList) throws -> PreparedAddition {
        PreparedAddition {
            let added = try await add(requests)
            return { added }
        }
    }

    package func checkAvailability() async throws { _ = try await status() }
    /// - Throws: ``DownloadError/noSuchDownload(_:)`` if there is no such download.
    package func snapshot(_ id: DownloadID, isDetailed: Bool = false) async throws -> DownloadSnapshot {
        guard let found = try await snapshots(.ids([id], isDetailed: isDetailed)).first else {
            throw DownloadError.noSuchDownload(id)
        }
        return found
    }
    /// Returns the downloads with these ids, and the ids that are unknown.
    package func found(_ ids: [DownloadID]) async throws -> (snapshots: [DownloadSnapshot], gone: [DownloadID]) {
        var (left, gone) = (ids, [DownloadID]())
        while !left.isEmpty {
            do {
                return (try await snapshots(.ids(left)), gone)
            } catch DownloadError.noSuchDownload(let id) where left.contains(id) {
                gone.append(id)
                left.removeAll { $0 == id }
            }
        }
        return ([], gone)
    }
    package func pause(_ ids: [DownloadID]) async throws -> [ChangedDownload] { try await change(ids, .pause) }
    /// Stops downloads, and keeps their partial files, so that `resume` can still continue them.
    package func cancel(_ ids: [DownloadID]) async throws -> [ChangedDownload] { try await change(ids, .cancel) }
}

/// A prepared addition of downloads.
package struct PreparedAddition: Sendable {
    /// Reads the answer of the service, and returns the downloads in the order of the requests.
    package typealias Answer = @Sendable () throws -> [AddedDownload]

    /// Adds the downloads. When this returns, they are recorded, and the next part of a list may be added.
    package let add: @Sendable () async throws -> Answer

    package init(_ add: @escaping @Sendable () async throws -> Answer) { self.add = add }
}

/// The values that may be given again when a download is resumed.
package struct RequestOverrides: Sendable, Equatable {
    package var headers: [RequestHeader] = []
    package var http = HTTPOptions()
    package var credential: Credential?
    package var secretFiles = SecretFiles()
    package var trust: ServerTrustPolicy?
    package var network = NetworkSettings()
    /// The allowed schemes; see ``RedirectPolicy/schemes``.
    package var schemes: [String]?
    package var connections: DownloadRequest.Connections?
    /// Whether an unverified file is accepted; see ``DownloadRequest/acceptsUnverified``. False changes nothing.
    package var acceptsUnverified = false
    /// See ``DownloadRequest/allowsRollback`` and ``DownloadRequest/trustsFirstUse``. False changes nothing.
    package var (allowsRollback, trustsFirstUse) = (false, false)
    /// Whether the download is resumed in the background session instead of this process.
    package var inBackground = false

    package init() {}

    /// Creates overrides with the parts of a request that the store may leave out; see ``DownloadRequest/hasSecrets``.
    package init(secretsOf request: DownloadRequest) {
        headers = request.headers.filter { $0.isSecret && $0.value != nil }
        credential = request.credential
        http.body = request.http.body?.bytes == nil ? nil : request.http.body
        network.proxy = request.network.proxy
        network.noProxy = request.network.noProxy
    }

    package var changesRequests: Bool {
        var unchanging = RequestOverrides()
        unchanging.inBackground = inBackground
        return self != unchanging
    }

    /// Returns the request with the given values instead of its own.
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
        if allowsRollback { result.allowsRollback = true }
        if trustsFirstUse { result.trustsFirstUse = true }
        return result
    }
}
