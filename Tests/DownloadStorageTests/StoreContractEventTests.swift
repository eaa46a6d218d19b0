import DownloadCore
import Foundation
import DownloadTestSupport
import Testing

/// The contract of every store for its log.
@Suite("Every store: the log of events", .inTurn)
struct StoreContractEventTests {
    let folder = TemporaryFolder()

    @Test(
        "Each step of a download is logged once, in order, with the values of that moment",
        arguments: StoreKind.allCases)
    func life(kind: StoreKind) async throws {
        let store = try kind.make(in: folder)
        let began = Date(timeIntervalSinceNow: -1)
        var record = try await store.add([Sample.request("a%20b.zip")], session: "foreground-s")[0].record
        let failure = DownloadError.networkFailed(.stalled, TransportDiagnosis(code: 28, message: "slow"))
        func save(_ state: DownloadState, _ received: Int64) async throws {
            record.state = state
            record.resume.written = ByteRanges([0..<received])
            #expect(try await store.save([record], session: record.session ?? "") == [])
        }
        try await save(.running, 0)
        try await save(.running, 100)
        record.fileName = "final.zip"
        record.resume.total = 500
        try await save(.running, 200)
        try await save(.running, 50)
        try await save(.waiting(.retry(failure), until: nil), 60)
        try await save(.running, 60)
        try await save(.paused(.user), 70)
        _ = try await store.claim([record.id], session: "foreground-s")
        try await save(.failed(failure), 70)
        _ = try await store.change([record.id], .cancel, session: "foreground-s")
        _ = try await store.add([record.request], session: "t")
        record.session = "t"
        record.resume = ResumeData()
        record.completed = CompletedFile(
            path: "/x", bytes: 500, identity: FileIdentity(inode: 1, born: nil), modified: 0, validators: Validators(),
            checksum: nil)
        try await save(.completed, 0)
        _ = try await store.remove([record.id], session: "t")

        let events = try await store.events(after: 0, limit: 100)
        #expect(
            events.map(\.kind) == [
                .added, .started, .restarted, .waiting, .started, .paused, .resumed, .failed, .cancelled, .resumed,
                .completed, .removed,
            ])
        #expect(events.map(\.cursor) == Array(1...12))
        #expect(events.map(\.received) == [0, 0, 50, 60, 60, 70, 70, 70, 70, 70, 500, 500])
        #expect(events.map(\.total) == [nil, nil] + Array(repeating: 500, count: 10))
        #expect(events.map(\.name) == ["a b.zip", "a b.zip"] + Array(repeating: "final.zip", count: 10))
        #expect(
            events.map(\.session) == Array(repeating: "foreground-s", count: 9) + Array(repeating: "t", count: 3))
        #expect(
            events.map(\.state) == [
                .queued, .running, .running, .waiting(.retry(failure), until: nil), .running, .paused(.user), .queued,
                .failed(failure), .cancelled, .queued, .completed, nil,
            ])
        #expect(events.allSatisfy { $0.id == record.id && $0.url == record.request.url.string })
        #expect(events.allSatisfy { $0.time >= began && $0.time <= Date(timeIntervalSinceNow: 1) })
    }

    @Test(
        "Changes of URL, priority and rate limit are logged, and no other change of a request",
        arguments: StoreKind.allCases)
    func changes(kind: StoreKind) async throws {
        let store = try kind.make(in: folder)
        var record = try await store.add([Sample.request("a", as: "asked")], session: "s")[0].record
        record.request.connections = 7
        record.speed = 5
        _ = try await store.save([record], session: "s")
        record.request.priority = 3
        _ = try await store.save([record], session: "s")
        record.request.url = try Sample.request("b").url
        _ = try await store.save([record, record], session: "s")
        record.request.url = try Sample.request("c").url
        record.state = .running
        _ = try await store.save([record], session: "s")
        for limit in [100, 100, 200, nil] as [Int64?] {
            record.request.rateLimit = limit
            _ = try await store.save([record], session: "s")
        }
        let events = try await store.events(after: 0, limit: 100)
        #expect(
            events.map(\.kind) == [.added, .changed, .changed, .started, .changed, .changed, .changed, .changed])
        #expect(events.map { $0.url.suffix(1) } == ["a", "a", "b", "b", "c", "c", "c", "c"])
        #expect(events.map(\.state) == [.queued, .queued, .queued] + Array(repeating: .running, count: 5))
        #expect(events.allSatisfy { $0.name == "asked" })
    }

    @Test("A change of many downloads at once is logged for each download", arguments: StoreKind.allCases)
    func bulk(kind: StoreKind) async throws {
        let store = try kind.make(in: folder)
        let requests = try (0..<50).map { try Sample.request("\($0)") }
        _ = try await store.add(requests, session: "foreground-dead")
        try await store.releaseDeadSessions()
        let ids = try await store.records(.all).map(\.id)
        _ = try await store.claim(ids, session: "background")
        try await store.pauseQueued(session: "background", reason: .terminate)
        try await store.requeue(session: "background")
        _ = try await store.remove(ids, session: "background")
        let events = try await store.events(after: 0, limit: 1000)
        let kinds: [LoggedEvent.Kind] = [.added, .paused, .resumed, .paused, .resumed, .removed]
        #expect(events.map(\.kind) == kinds.flatMap { Array(repeating: $0, count: 50) })
        for start in stride(from: 0, to: 300, by: 50) { #expect(Set(events[start..<start + 50].map(\.id)) == Set(ids)) }
        #expect(events[50..<100].allSatisfy { $0.session == "foreground-dead" && $0.state == .paused(.interrupted) })
    }

    @Test("The log is read from a cursor, with a limit", arguments: StoreKind.allCases)
    func cursor(kind: StoreKind) async throws {
        let store = try kind.make(in: folder)
        #expect(try await store.eventBounds() == (0, 0))
        #expect(try await store.events(after: 0, limit: 5) == [])
        _ = try await store.add((0..<25).map { try Sample.request("\($0)") }, session: "s")
        var seen: [LoggedEvent] = []
        while true {
            let next = try await store.events(after: seen.last?.cursor ?? 0, limit: 10)
            if next.isEmpty { break }
            #expect(next.count <= 10)
            seen += next
        }
        #expect(seen.map(\.cursor) == Array(1...25))
        #expect(seen.map(\.id) == Array(1...25))
        #expect(try await store.eventBounds() == (0, 25))
        #expect(try await store.events(after: 25, limit: 5) == [])
        #expect(try await store.events(after: 99, limit: 5) == [])
        #expect(try await store.events(after: -5, limit: 2).map(\.cursor) == [1, 2])
        #expect(try await store.events(after: 0, limit: 0) == [])
    }

    @Test("The oldest events are dropped, and the numbers continue", arguments: StoreKind.allCases)
    func dropping(kind: StoreKind) async throws {
        let store = try kind.make(in: folder)
        _ = try await store.add((0..<25).map { try Sample.request("\($0)") }, session: "s")
        try await store.dropEvents(keeping: 30)
        #expect(try await store.eventBounds() == (0, 25))
        try await store.dropEvents(keeping: 10)
        #expect(try await store.eventBounds() == (15, 25))
        #expect(try await store.events(after: 3, limit: 100).map(\.cursor) == Array(16...25))
        try await store.dropEvents(keeping: 0)
        #expect(try await store.eventBounds() == (25, 25))
        try await store.dropEvents(keeping: -1)
        _ = try await store.add([Sample.request("new")], session: "s")
        #expect(try await store.events(after: 25, limit: 100).map(\.cursor) == [26])
        #expect(try await store.eventBounds() == (25, 26))
    }

    @Test("A refused change is not logged", arguments: StoreKind.allCases)
    func refused(kind: StoreKind) async throws {
        let store = try kind.make(in: folder)
        var record = try await store.add([Sample.request()], session: "s")[0].record
        record.state = .running
        #expect(try await store.save([record], session: "stranger") == [record.id])
        await #expect(throws: DownloadError.self) { try await store.remove([record.id, 9], session: "s") }
        #expect(try await store.add([Sample.request()], session: "t").map(\.kind) == [.joined])
        #expect(try await store.eventBounds() == (0, 1))
    }
}
