import DownloadSystem
import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore
@testable import DownloadEngine

/// A session in this process, with a folder of its own, which records its events.
final class SessionBench: Sendable {
    let folder: TemporaryFolder
    let transport: WatchedTransport
    let store: any DownloadStore
    let manager: SessionManager
    let events = Observed<[DownloadEvent]>([])
    /// How often each download has ended.
    let ends = Observed<[DownloadID: Int]>([:])

    /// - Parameters:
    ///   - earlier: A closed session, whose folder and store are used again.
    ///   - time: The clock. A clock with `leaps` does not leap during a transfer, unless `laws` are given.
    ///   - mostQueued: The maximum number of queued downloads in memory.
    init(
        after earlier: SessionBench? = nil, store: (any DownloadStore)? = nil, session: String = "first",
        maxConcurrent: Int = 8, maxPerHost: Int = 8, historyAge: Duration? = nil,
        notice: @escaping @Sendable (String) -> Void = { _ in }, hooks: (any HookRunner)? = nil,
        isAlive: @escaping @Sendable (String) -> Bool = { !$0.contains("dead") },
        network: FakeNetwork = FakeNetwork(), time: any TimeSource = SystemTime(),
        timetable: RateTimetable = RateTimetable(), pace: Pace? = nil, laws: FakeTransport.Laws? = nil,
        mostQueued: Int = SessionBench.mostQueued, stream: StreamOutput? = nil,
        _ script: @escaping FakeTransport.Script
    ) async throws {
        folder = try earlier?.folder ?? TemporaryFolder()
        let store = store ?? earlier?.store ?? GatedStore(isAlive: isAlive)
        let transport = WatchedTransport(
            FakeTransport(laws: laws, script), pace: pace, time: laws == nil ? time as? ManualTime : nil)
        self.store = store
        self.transport = transport
        var parts = SessionParts(
            store: store, identifier: Self.identifier(session), version: "test",
            resources: SessionResources(start: { transport }, end: {}))
        (parts.isAlive, parts.notice, parts.hooks, parts.watchesWriters) = (isAlive, notice, hooks, false)
        (parts.network, parts.time, parts.stream) = (network, time, stream)
        manager = SessionManager(
            parts: parts, maxConcurrent: maxConcurrent, maxPerHost: maxPerHost, timetable: timetable,
            historyAge: historyAge)
        await manager.keepInMemory(mostQueued)
        let stream = await manager.events()
        Task { [events, ends] in
            for await event in stream {
                events.update { $0.append(event) }
                if event.isEnd { ends.update { $0[event.snapshot.id, default: 0] += 1 } }
            }
        }
    }

    convenience init(
        after earlier: SessionBench? = nil, store: (any DownloadStore)? = nil, session: String = "first",
        serving reply: FaultReply
    ) async throws {
        try await self.init(after: earlier, store: store, session: session) { _, _ in .reply(reply) }
    }

    /// It is smaller than usual, so that a test with a few hundred downloads leaves some to the store.
    static let mostQueued = 300

    /// Returns the identifier of a foreground session, except for the background identifier.
    static func identifier(_ session: String) -> String {
        session == SessionIdentifier.background ? session : "foreground-\(session)"
    }

    // MARK: Requests

    /// Returns a request whose retries come at once.
    func request(
        host: String = "example.org", _ path: String = "/file.bin",
        _ change: (inout DownloadRequest) -> Void = { _ in }
    ) throws -> DownloadRequest {
        let url = try SourceURL.parse("http://\(host)\(path)").get().url
        var request = DownloadRequest(url: url, destination: Destination(folder: folder.path))
        request.retry = RetryPolicy(limit: 3, delay: .seconds(0.001), maximumDelay: .seconds(0.002))
        change(&request)
        return request
    }

    @discardableResult
    func add(
        _ path: String = "/file.bin", _ change: (inout DownloadRequest) -> Void = { _ in }
    ) async throws -> DownloadID {
        try #require(try await manager.add([try request(path, change)]).first).record.id
    }

    /// Adds a record as a dead session left it, and resumes the download in this session.
    func takeOver(
        _ request: DownloadRequest, _ change: (inout DownloadRecord) throws -> Void
    ) async throws -> DownloadID {
        var record = try #require(try await store.add([request], session: "foreground-dead").first).record
        record.state = .running
        try change(&record)
        #expect(try await store.save([record], session: "foreground-dead").isEmpty)
        _ = try await manager.resume([record.id], overrides: RequestOverrides())
        return record.id
    }

    // MARK: Results

    /// Waits until the download has been completed, failed, paused or cancelled `times` times. Returns its record.
    func ending(of id: DownloadID, times: Int = 1) async throws -> DownloadRecord {
        let ended = await ends.wait { $0[id, default: 0] >= times }
        try #require(ended, "the download did not end: \(words(id))")
        return try await record(id)
    }

    func record(_ id: DownloadID) async throws -> DownloadRecord {
        try #require(try await store.records(.ids([id])).first)
    }

    /// Returns the events of a download by name.
    func words(_ id: DownloadID) -> [String] { events.value.filter { $0.snapshot.id == id }.map(\.word) }

    /// The `Range` field of each request.
    var ranges: [String?] { transport.requests.map(\.range) }

    /// Returns whether the file has exactly the content.
    func holds(_ name: String, _ content: Content) throws -> Bool {
        try folder.size(of: name) == content.size && sha256(of: folder(name)) == content.sha256
    }

    /// Returns the number of free buffers. Call it only after all downloads have ended, to find lost buffers.
    func freeBuffers() async -> Int {
        guard let pool = await manager.context?.disk.pool else { return 0 }
        var taken: [PoolBuffer] = []
        while let buffer = pool.take(whenFree: {}) { taken.append(buffer) }
        for buffer in taken { pool.give(buffer) }
        return taken.count
    }
}

extension SessionManager {
    var knownBook: SessionBook { book.known }

    fileprivate func keepInMemory(_ most: Int) { book.known.mostQueued = most }
}

/// Returns the `Range` of a request that resumes at `offset`. The range begins earlier, for the overlap check.
func rest(from offset: Int64) -> String { "\(offset - Overlap.resumed)-" }

extension DownloadEvent {
    var isEnd: Bool {
        switch self {
        case .didComplete, .didFail, .didPause, .didCancel, .didRemove: true
        case .didAdd, .didStart, .didRestart, .willRetry, .didPostpone, .didResume, .didChange: false
        }
    }

    var word: String {
        switch self {
        case .didAdd: "add"
        case .didStart(_, let offset): "start \(offset)"
        case .didRestart: "restart"
        case .willRetry: "retry"
        case .didPostpone: "postpone"
        case .didPause: "pause"
        case .didResume: "resume"
        case .didRemove: "remove"
        case .didChange: "change"
        case .didCancel: "cancel"
        case .didComplete: "complete"
        case .didFail: "fail"
        }
    }
}

extension SessionBook {
    /// Whether the session keeps running for paused downloads.
    var hasPaused: Bool { places.values.contains { if case .paused = $0 { true } else { false } } }
}
