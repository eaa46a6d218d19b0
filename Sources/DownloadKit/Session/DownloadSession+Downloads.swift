import DownloadCore
import Foundation

/// Starting downloads, and finding them again.
extension DownloadSession {
    /// Starts a download, or joins the one of the same URL and destination. A download that an earlier process left
    /// unfinished goes on with the bytes that it has.
    /// - Throws: ``DownloadError`` when the request cannot be sent, or the session has ended.
    public func download(_ request: DownloadRequest, to destination: Destination) async throws -> DownloadTask {
        try requireOpen()
        let request = try await prepared(request, to: destination)
        guard let added = try await service.add([request]).first else { throw DownloadError.cancelled }
        return try await task(of: added.record)
    }

    /// Starts a download of a URL.
    public func download(_ url: URL, to destination: Destination) async throws -> DownloadTask {
        try await download(DownloadRequest(url), to: destination)
    }

    /// Starts many downloads into one folder, in order, with one transaction of the store.
    /// - Throws: as for one, before any of them is started.
    public func download(_ requests: [DownloadRequest], to destination: Destination) async throws -> [DownloadTask] {
        try requireOpen()
        var prepared: [DownloadRequest] = []
        for request in requests { prepared.append(try await self.prepared(request, to: destination)) }
        var tasks: [DownloadTask] = []
        for added in try await service.add(prepared) { tasks.append(try await task(of: added.record)) }
        return tasks
    }

    /// Goes on with a download that was cancelled, failed, or left unfinished by a process that was killed. The server has
    /// to prove that its file is still the same; otherwise the file is fetched again, and never mixed.
    /// - Parameters:
    ///   - data: what was kept of the download.
    ///   - credential: given again, because passwords are not part of resume data.
    ///   - headers: given again, as far as they hold secrets.
    public func download(
        resumingWith data: ResumeData, credential: Credential? = nil, headers: [RequestHeader] = []
    ) async throws -> DownloadTask {
        try requireOpen()
        guard data.isUsable else { throw DownloadError.unexpected("the resume data is damaged") }
        guard let local else {
            // A session in another process has the download in the store, or begins it anew.
            var request = data.record.request
            request.credential = credential ?? request.credential
            for header in headers { request = request.header(header.name, header.value ?? "") }
            return try await download(request, to: request.destination)
        }
        var overrides = RequestOverrides()
        overrides.credential = credential
        overrides.headers = headers
        let record = try await local.resume(data.record, overrides: overrides)
        return try await task(of: record)
    }

    // MARK: Finding

    /// The downloads of this session that have not ended: `URLSession.allTasks`. A background session that is opened again
    /// has those of the processes before.
    public var tasks: [DownloadTask] {
        get async throws {
            try await snapshots([.queued, .running, .waiting, .paused]).map { DownloadTask($0, observer, self) }
        }
    }

    /// A download by its number, whatever its state.
    /// - Throws: ``DownloadError/noSuchDownload(_:)``.
    public func task(_ id: DownloadID) async throws -> DownloadTask {
        guard let found = try await service.snapshots(.ids([id])).first else {
            throw DownloadError.noSuchDownload(id)
        }
        return try await task(of: found.record)
    }

    /// Downloads that no session runs and that are not complete, such as those of a process that was killed; the newest
    /// last. They can be given to ``download(resumingWith:credential:headers:)``.
    public var resumable: [ResumeData] {
        get async throws {
            try await service.snapshots(DownloadSelection(.states([.paused, .failed, .cancelled])))
                .filter { !$0.isAttended || $0.record.state.kind.isEnded }.map { ResumeData($0.record) }
        }
    }

    // MARK: Events

    /// Every event of the session from now on, in order. The sequence ends with the session.
    public var events: DownloadEvents {
        get async { await service.events() }
    }

    /// Every event of the session since another one, and those that follow: first what happened while nobody listened, then
    /// ``LogEntry/didFinishEvents(_:)``, then what happens.
    /// - Parameter cursor: the ``LoggedEvent/cursor`` of the last event that was handled, which the caller keeps; nil for
    ///   all that the log has.
    public func events(since cursor: EventCursor?) async throws -> AsyncThrowingStream<LogEntry, any Error> {
        let log = try await service.log(since: cursor ?? 0)
        let reader = LogFilter(log, session: identifier)
        return AsyncThrowingStream { try await reader.next() }
    }

    /// The bytes of all downloads of the session since it was opened; the sequence ends with the session.
    public var progress: AsyncStream<SessionProgress> { observer.sessionProgress }

    // MARK: Parts

    func snapshots(_ states: Set<DownloadState.Kind>) async throws -> [DownloadSnapshot] {
        try await service.snapshots(DownloadSelection(.states(states))).filter { $0.record.session == identifier }
    }

    private func prepared(_ request: DownloadRequest, to destination: Destination) async throws -> DownloadRequest {
        var request = request
        for header in configuration.headers
        where !request.headers.contains(where: { $0.name.lowercased() == header.name.lowercased() }) {
            request.headers.append(header)
        }
        if local == nil, let adapter { request = try await adapter.adapt(request) }
        request.destination = destination
        try request.requireAllowed()
        return request
    }

    /// The handle of a download: of this session, or of the live one that runs the download.
    private func task(of record: DownloadRecord) async throws -> DownloadTask {
        let snapshot = DownloadSnapshot(record: record)
        if let owner = record.session, owner != identifier, record.state.kind.isActive || record.state.kind == .paused,
            directory.isAlive(owner)
        {
            return DownloadTask(snapshot, try await observer(of: owner), self)
        }
        return DownloadTask(snapshot, observer, self)
    }
}

/// The events of one session out of the log of the store.
private actor LogFilter {
    private var log: AsyncThrowingStream<LogEntry, any Error>.AsyncIterator
    private let session: String

    init(_ log: AsyncThrowingStream<LogEntry, any Error>, session: String) {
        self.log = log.makeAsyncIterator()
        self.session = session
    }

    func next() async throws -> LogEntry? {
        while true {
            var log = log
            let entry = try await log.next(isolation: self)
            self.log = log
            if case .event(let event)? = entry, event.session != nil, event.session != session { continue }
            return entry
        }
    }
}
