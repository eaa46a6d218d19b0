import DownloadCore
import Foundation

/// A download in one call, without a session of the caller.
extension DownloadSession {
    /// Downloads a file in a session of its own, and returns the finished file. If the program is killed, the next call
    /// for the same URL and destination continues with the bytes on disk. If the waiting Swift task is cancelled, the
    /// download is cancelled, too.
    /// - Throws: The ``DownloadError`` with which the download failed.
    public static func download(
        _ request: DownloadRequest, to destination: Destination, configuration: SessionConfiguration = .default
    ) async throws -> DownloadedFile {
        let session = try await DownloadSession(configuration: configuration)
        let result: Result<DownloadedFile, any Error>
        do { result = .success(try await session.download(request, to: destination).value) } catch {
            result = .failure(error)
        }
        // The current task may be cancelled, so the call needs a new task.
        await Task { await session.close() }.value
        return try result.get()
    }

    /// Downloads the file of a URL in a session of its own, and returns the finished file.
    /// - Throws: The ``DownloadError`` with which the download failed.
    public static func download(
        _ url: URL, to destination: Destination, configuration: SessionConfiguration = .default
    ) async throws -> DownloadedFile {
        try await download(DownloadRequest(url), to: destination, configuration: configuration)
    }

    /// Fetches a small body into memory: the counterpart of `URLSession.data(for:)`. Redirects, retries and trust follow
    /// the request. Nothing is recorded, and no file is written.
    /// - Parameters:
    ///   - request: The request for the body.
    ///   - limit: The largest size in bytes.
    /// - Throws: ``DownloadError``; ``VerificationFailure/unverifiable(_:)`` for a larger body.
    public static func data(for request: DownloadRequest, limit: Int) async throws -> Data {
        try request.requireAllowed()
        try RequestDocument.requirePossible(request)
        return Data(try await document(request, largest: limit))
    }

    /// Fetches the small body of a URL into memory: the counterpart of `URLSession.data(from:)`.
    /// - Parameters:
    ///   - url: The URL of the body.
    ///   - limit: The largest size in bytes.
    /// - Throws: ``DownloadError``; ``VerificationFailure/unverifiable(_:)`` for a larger body.
    public static func data(from url: URL, limit: Int) async throws -> Data {
        try await data(for: DownloadRequest(url), limit: limit)
    }
}

/// Starting downloads, and finding them again.
extension DownloadSession {
    /// Starts a download, or joins the download of the same URL and destination. A download that an earlier process
    /// left unfinished continues with its bytes.
    /// - Throws: ``DownloadError`` if the request cannot be sent, or if the session has ended.
    public func download(_ request: DownloadRequest, to destination: Destination) async throws -> DownloadTask {
        guard let task = try await download([request], to: destination).first else { throw DownloadError.cancelled }
        return task
    }

    /// Starts a download of a URL.
    public func download(_ url: URL, to destination: Destination) async throws -> DownloadTask {
        try await download(DownloadRequest(url), to: destination)
    }

    /// Starts many downloads into one folder, in order, with one transaction of the store.
    /// - Throws: ``DownloadError`` if a request cannot be sent, or if the session has ended. Then no download is
    ///   started.
    public func download(_ requests: [DownloadRequest], to destination: Destination) async throws -> [DownloadTask] {
        try await start(
            requests.map { request in
                var request = request
                request.destination = destination
                return request
            })
    }

    /// Starts a download of each file of a Metalink document, from all sources of the file.
    /// - Parameters:
    ///   - metalink: The document.
    ///   - destination: The folder below which the files get the names of the document; or the place of the only file.
    ///   - country: The country (ISO 3166) whose sources are asked first; nil for the order of the document.
    /// - Throws: ``DownloadError`` if a file has no usable URL, or a name that leads out of the folder. Then no download
    ///   is started.
    public func download(
        _ metalink: Metalink, to destination: Destination, preferring country: String? = nil
    ) async throws -> [DownloadTask] {
        if destination.fileName != nil, metalink.files.count > 1 {
            throw DownloadError.protocolViolated(.badMetalink("it describes several files, which need a folder"))
        }
        return try await start(
            metalink.files.map { file throws(DownloadError) in
                let sources = file.sources(preferring: country).filter(\.isHTTP)
                guard let first = sources.first else {
                    throw .protocolViolated(.badMetalink("\(file.name): it has no http or https URL"))
                }
                var request = DownloadRequest(url: first, destination: destination)
                request.mirrors = Array(sources.dropFirst())
                try file.apply(to: &request)
                return request
            })
    }

    /// Resumes a download that was cancelled, failed, or left unfinished by a killed process. The server has to prove
    /// that its file is still the same. Otherwise the file is fetched from the beginning; two versions are never mixed.
    /// - Parameters:
    ///   - data: The resume data of the download.
    ///   - credential: The credential, because passwords are not part of resume data.
    ///   - headers: The header fields with secrets, which are not part of resume data, either.
    public func download(
        resumingWith data: ResumeData, credential: Credential? = nil, headers: [RequestHeader] = []
    ) async throws -> DownloadTask {
        try requireOpen()
        guard data.isUsable else { throw DownloadError.unexpected("the resume data is damaged") }
        guard let local else {
            // A session in another process has the download in its store, or begins it again.
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

    /// The downloads of this session that have not ended, like `URLSession.allTasks`. A background session that is
    /// opened again has the downloads of earlier processes.
    public var tasks: [DownloadTask] {
        get async throws {
            try await snapshots([.queued, .running, .waiting, .paused]).map { DownloadTask($0, observer, self) }
        }
    }

    /// Returns a download by its number, whatever its state.
    /// - Throws: ``DownloadError/noSuchDownload(_:)`` if the store has no such download.
    public func task(_ id: DownloadID) async throws -> DownloadTask {
        try await task(of: service.snapshot(id).record)
    }

    /// The incomplete downloads that no session runs, such as those of a killed process; the newest last. They can be
    /// given to ``download(resumingWith:credential:headers:)``.
    public var resumable: [ResumeData] {
        get async throws {
            try await service.snapshots(DownloadSelection(.states([.paused, .failed, .cancelled])))
                .filter { !$0.isAttended || $0.record.state.kind.isEnded }.map { ResumeData($0.record) }
        }
    }

    // MARK: Changing all downloads

    /// Pauses every download of the session. When this method returns, the resume data is saved.
    public func pauseAll() async throws {
        let ids = try await snapshots([.queued, .running, .waiting]).map(\.id)
        if !ids.isEmpty { _ = try await service.pause(ids) }
    }

    /// Resumes every paused download of the session.
    public func resumeAll() async throws {
        let ids = try await snapshots([.paused]).map(\.id)
        if !ids.isEmpty { _ = try await service.resume(ids, overrides: RequestOverrides()) }
    }

    /// Changes the maximum numbers of downloads that transfer at the same time, from 1 to 1000. The configuration stays
    /// as it was.
    /// - Parameters:
    ///   - maxConcurrent: The maximum for the session; nil to keep it.
    ///   - maxPerHost: The maximum for one origin; nil to keep it.
    /// - Throws: ``DownloadError`` if a number is impossible, or if the session cannot be reached.
    public func setLimits(maxConcurrent: Int? = nil, maxPerHost: Int? = nil) async throws {
        for number in [maxConcurrent, maxPerHost].compactMap(\.self) {
            guard SessionSettings.possibleDownloads.contains(number) else {
                throw DownloadError.unexpected("\(number) downloads at the same time are impossible")
            }
        }
        try await service.configure(SessionSettings(maxConcurrent: maxConcurrent, maxPerHost: maxPerHost))
    }

    /// Limits the speed of all downloads of the session together.
    /// - Parameter limit: The limit in bytes per second; nil for no limit.
    /// - Throws: ``DownloadError`` if the limit is not positive, or if the session cannot be reached.
    public func setRateLimit(_ limit: Int64?) async throws {
        if let limit, limit <= 0 {
            throw DownloadError.unexpected("a limit of \(limit) bytes per second is impossible")
        }
        try await service.configure(SessionSettings(rateLimit: limit ?? 0))
    }

    // MARK: Events

    /// Every event of the session from now on, in order. The sequence ends with the session.
    public var events: DownloadEvents {
        get async { await service.events() }
    }

    /// Returns the events of the session after a cursor: first the past events, then ``LogEntry/didFinishEvents(_:)``,
    /// then events as they happen.
    /// - Parameter cursor: The ``LoggedEvent/cursor`` of the last event that the caller has handled; nil for all events
    ///   in the log.
    public func events(since cursor: EventCursor?) async throws -> AsyncThrowingStream<LogEntry, any Error> {
        let log = try await service.log(since: cursor ?? 0)
        let reader = LogFilter(log, session: identifier)
        return AsyncThrowingStream { try await reader.next() }
    }

    /// The progress of all downloads of the session together, since it was opened. The sequence ends with the session.
    public var progress: AsyncStream<SessionProgress> { observer.sessionProgress }

    // MARK: Parts

    func snapshots(_ states: Set<DownloadState.Kind>) async throws -> [DownloadSnapshot] {
        try await service.snapshots(DownloadSelection(.states(states))).filter { $0.record.session == identifier }
    }

    /// Adds downloads, and returns their handles in the same order.
    private func start(_ requests: [DownloadRequest]) async throws -> [DownloadTask] {
        try requireOpen()
        var prepared: [DownloadRequest] = []
        for request in requests { prepared.append(try await self.prepared(request, isOnly: requests.count == 1)) }
        var tasks: [DownloadTask] = []
        for added in try await service.add(prepared) { tasks.append(try await task(of: added.record)) }
        return tasks
    }

    private func prepared(_ request: DownloadRequest, isOnly: Bool) async throws -> DownloadRequest {
        var request = request
        for header in configuration.headers
        where !request.headers.contains(where: { $0.name.lowercased() == header.name.lowercased() }) {
            request.headers.append(header)
        }
        if local == nil, let adapter { request = try await adapter.adapt(request) }
        if let list = request.checksums {
            request.checksums = nil
            if request.checksum == nil { try list.settle(&request, isOnly: isOnly) }
        }
        try request.requireAllowed()
        try RequestDocument.requirePossible(request)
        return request
    }

    /// Returns a handle of a download, which belongs to this session or to the live session that runs the download.
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

/// A filter that takes the events of one session from the log of the store.
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
