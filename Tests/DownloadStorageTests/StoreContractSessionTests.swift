import DownloadCore
import Foundation
import DownloadTestSupport
import Testing

/// The contract of every store for the downloads of a session that ends, dies or returns.
@Suite("Every store: sessions that end, die and return", .inTurn)
struct StoreContractSessionTests {
    let folder = TemporaryFolder()
    private let gone = DownloadState.paused(.interrupted)

    /// Returns a store with these downloads, in this order.
    private func store(
        _ kind: StoreKind, _ downloads: [(session: String?, state: DownloadState)]
    ) async throws -> any DownloadStore {
        let store = try kind.make(in: folder)
        for (index, download) in downloads.enumerated() {
            let added = try await store.add([Sample.request("\(index)")], session: download.session ?? "any")
            var record = added[0].record
            record.state = download.state
            record.session = download.session
            record.speed = 1
            record.resume.written = ByteRanges([0..<10])
            #expect(try await store.save([record], session: download.session ?? "any") == [])
        }
        return store
    }

    @Test(
        "Unfinished downloads of dead foreground sessions, or of no session, are paused",
        arguments: StoreKind.allCases)
    func releases(kind: StoreKind) async throws {
        let store = try await store(
            kind,
            [
                ("foreground-alive", .running), ("foreground-dead1", .queued), ("foreground-dead1", .running),
                ("foreground-dead2", .waiting(.retry(.cancelled), until: nil)), ("foreground-dead1", .paused(.user)),
                ("foreground-dead1", .completed), ("foreground-dead1", .cancelled), (nil, .queued), (nil, .running),
            ])
        try await store.releaseDeadSessions()
        try await store.releaseDeadSessions()
        let after = try await store.records(.all)
        #expect(
            after.map(\.state)
                == [.running, gone, gone, gone, .paused(.user), .completed, .cancelled, gone, gone])
        #expect(after.allSatisfy { $0.state != gone || $0.session == nil && $0.speed == nil })
        #expect(after.map(\.received) == Array(repeating: 10, count: 9))
        #expect(after[0].session == "foreground-alive" && after[0].speed == 1)
    }

    @Test("A dead background session keeps its downloads, and its queue stays queued", arguments: StoreKind.allCases)
    func releasesBackground(kind: StoreKind) async throws {
        let store = try await store(
            kind,
            [
                ("dead", .queued), ("dead", .running), ("dead", .waiting(.retry(.cancelled), until: nil)),
                ("dead", .paused(.user)), ("background", .running), ("dead", .failed(.cancelled)),
            ])
        try await store.releaseDeadSessions()
        let after = try await store.records(.all)
        #expect(after.map(\.state) == [.queued, gone, gone, .paused(.user), .running, .failed(.cancelled)])
        #expect(after.map(\.session) == ["dead", "dead", "dead", "dead", "background", "dead"])
        #expect(after.map(\.speed) == [1, nil, nil, 1, 1, 1])
        #expect(
            try await store.claim([after[0].id, after[1].id], session: "me").map(\.record.session) == ["me", "me"])
    }

    @Test("The unfinished downloads of a background session return to its queue", arguments: StoreKind.allCases)
    func requeues(kind: StoreKind) async throws {
        let states: [DownloadState] = [
            .running, .waiting(.retry(.cancelled), until: nil), .paused(.interrupted), .paused(.terminate),
            .paused(.hangup), .paused(.interrupt), .queued, .paused(.user), .completed, .failed(.cancelled), .cancelled,
        ]
        let store = try await store(
            kind, states.map { ("background", $0) } + [("other", .running), (nil, .paused(.interrupted))])
        try await store.requeue(session: "background")
        let after = try await store.records(.all)
        let queued = Array(repeating: DownloadState.queued, count: 7)
        #expect(after.map(\.state) == queued + Array(states[7...]) + [.running, gone])
        #expect(after.dropLast(2).allSatisfy { $0.session == "background" })
        #expect(after.prefix(6).allSatisfy { $0.speed == nil && $0.received == 10 })
        #expect(try await store.queuedCount(session: "background") == 7)
        let taken = try await store.queued(session: "background", after: nil, excluding: [], limit: 9)
        #expect(taken.map(\.id) == Array(1...7))
        let events = try await store.events(after: store.eventBounds().last - 6, limit: 9)
        #expect(Set(events.map(\.id)) == Set(1...6))
        #expect(events.allSatisfy { $0.kind == .resumed && $0.session == "background" })
    }

    @Test("The queued downloads of one session are counted", arguments: StoreKind.allCases)
    func counts(kind: StoreKind) async throws {
        let store = try await store(
            kind, [("s", .queued), ("s", .running), ("other", .queued), ("s", .queued), ("s", .paused(.user))])
        #expect(try await store.queuedCount(session: "s") == 2)
        #expect(try await store.queuedCount(session: "nobody") == 0)
    }

    @Test("Only the queued downloads of one session are paused", arguments: StoreKind.allCases)
    func pausesQueue(kind: StoreKind) async throws {
        let store = try await store(
            kind,
            [
                ("foreground-s", .running), ("foreground-s", .queued), ("foreground-s", .queued), ("other", .queued),
                ("background", .queued),
            ])
        try await store.pauseQueued(session: "foreground-s", reason: .terminate)
        try await store.pauseQueued(session: "background", reason: .hangup)
        let after = try await store.records(.all)
        #expect(
            after.map(\.state) == [.running, .paused(.terminate), .paused(.terminate), .queued, .paused(.hangup)])
        #expect(after.map(\.session) == ["foreground-s", nil, nil, "other", "background"])
        #expect(try await store.queued(session: "foreground-s", after: nil, excluding: [], limit: 5) == [])
        #expect(try await store.claim([after[1].id], session: "t").map(\.record.state) == [.queued])
    }

    @Test("Only downloads that ended before a date are removed, oldest first", arguments: StoreKind.allCases)
    func ended(kind: StoreKind) async throws {
        let states: [DownloadState] = [
            .completed, .failed(.cancelled), .cancelled, .paused(.user), .completed, .running,
        ]
        let store = try await store(kind, states.map { ("s", $0) })
        var records = try await store.records(.all)
        for (index, age) in [30, 50, 40, 90, 5, 90].enumerated() {
            records[index].updated = Date(timeIntervalSince1970: Double(1000 - age))
        }
        _ = try await store.save(records, session: "s")
        func removed(_ seconds: Double, _ limit: Int = 10) async throws -> [DownloadID] {
            let removed = try await store.removeEnded(before: Date(timeIntervalSince1970: seconds), limit: limit)
            #expect(removed == removed.compactMap { gone in records.first { $0.id == gone.id } })
            return removed.map(\.id)
        }
        #expect(try await removed(900) == [])
        #expect(try await removed(2000, 0) == [])
        #expect(try await store.records(.all) == records)
        #expect(try await removed(970, 1) == [2])
        #expect(try await removed(970) == [3])
        #expect(try await removed(970) == [])
        #expect(try await removed(970.001) == [1])
        #expect(try await removed(2000) == [5])
        #expect(try await store.records(.all).map(\.id) == [4, 6])
        let events = try await store.events(after: 0, limit: 100).filter { $0.kind == .removed }
        #expect(events.map(\.id) == [2, 3, 1, 5])
    }
}
