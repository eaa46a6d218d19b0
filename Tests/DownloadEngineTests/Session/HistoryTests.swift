import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore
@testable import DownloadEngine

/// What the age limit of the history removes, and what it keeps.
@Suite("SessionManager: history", .inTurn, .timeLimit(.minutes(1)))
struct HistoryTests {
    private static let content = Content(seed: 5, size: 500_000)
    private static let reply = FaultReply(content, etag: "\"a\"")
    private static let hour = 3600.0

    /// Returns a session that is closed, with one download of each kind: completed, failed, cancelled and paused. The
    /// last three have a partial file.
    private func left() async throws -> (SessionBench, ended: [DownloadID], paused: DownloadID) {
        let bench = try await SessionBench { request, _ in
            switch request.url.path {
            case "/done": .reply(Self.reply)
            case "/failed": .reply(Self.reply.with { $0.cut = .reset(after: 300_000) })
            default: .reply(Self.reply.with { $0.cut = .stall(after: 300_000) })
            }
        }
        var ids: [DownloadID] = []
        for name in ["done", "failed"] {
            ids.append(try await bench.add("/\(name)") { $0.retry.limit = 0 })
            _ = try await bench.ending(of: ids[ids.count - 1])
        }
        let sent = bench.transport.taken.value
        ids.append(try await bench.add("/cancelled"))
        ids.append(try await bench.add("/paused"))
        #expect(await bench.transport.taken.wait { $0 == sent + 600_000 })
        _ = try await bench.manager.change([ids[2]], .cancel)
        await bench.manager.pauseAll(.user)
        await bench.manager.close()
        let states = try await bench.store.records(.ids(ids)).map(\.state.kind)
        try #require(states == [.completed, .failed, .cancelled, .paused])
        return (bench, Array(ids[..<3]), ids[3])
    }

    /// Returns a store with the same downloads, as if nothing had happened to them for two hours.
    private func aged(_ bench: SessionBench) async throws -> any DownloadStore {
        let records = try await bench.store.records(.all)
        let store = GatedStore(isAlive: { !$0.contains("first") })
        let added = try await store.add(records.map(\.request), session: "foreground-first")
        try #require(added.map(\.record.id) == records.map(\.id))
        let old = records.map { record in
            var record = record
            record.updated = Date(timeIntervalSinceNow: -2 * Self.hour)
            return record
        }
        #expect(try await store.save(old, session: "foreground-first").isEmpty)
        return store
    }

    private func next(
        _ bench: SessionBench, _ store: any DownloadStore, age: Double?,
        notice: @escaping @Sendable (String) -> Void = { Issue.record("\($0)") }
    ) async throws -> SessionBench {
        try await SessionBench(
            after: bench, store: store, session: SessionIdentifier.background, historyAge: age.map { .seconds($0) },
            notice: notice
        ) { _, _ in .reply(Self.reply) }
    }

    @Test("Old ended downloads are removed with their partial files; finished files, young and paused downloads stay")
    func clears() async throws {
        let (first, ended, paused) = try await left()
        let store = ClaimLog(try await aged(first))
        let young = try await store.add([try first.request("/young")], session: "foreground-first")[0].record
        _ = try await store.change([young.id], .cancel, session: "foreground-first")
        let second = try await next(first, store, age: Self.hour)
        try await second.manager.start()
        #expect(await store.forgotten.wait { Set(ended).isSubset(of: $0) })
        await second.manager.close()
        #expect(try await store.records(.all).map(\.id) == [paused, young.id])
        #expect(first.folder.names() == ["done", "paused.part"])
        #expect(try second.holds("done", Self.content))
        // The removed downloads do not belong to this session, so it announces nothing.
        #expect(second.events.value == [])
        #expect(try await store.events(after: 0, limit: 100).filter { $0.kind == .removed }.map(\.id) == ended)
    }

    @Test(
        "No download is removed before it is old enough, or without an age limit",
        arguments: [3 * Self.hour, 9e15, nil])
    func keeps(limit: Double?) async throws {
        let (first, ended, paused) = try await left()
        let store = try await aged(first)
        let second = try await next(first, store, age: limit)
        try await second.manager.start()
        await second.manager.close()
        #expect(try await store.records(.all).map(\.id) == ended + [paused])
        #expect(first.folder.names() == ["cancelled.part", "done", "failed.part", "paused.part"])
    }

    @Test("If a download is requested again while the session begins, it is not removed", arguments: [true, false])
    func revived(isResumed: Bool) async throws {
        let (first, ended, _) = try await left()
        let store = ClaimLog(try await aged(first))
        let second = try await next(first, store, age: Self.hour)
        if isResumed {
            _ = try await second.manager.resume([ended[2]], overrides: RequestOverrides())
        } else {
            #expect(try await second.add("/cancelled") == ended[2])
        }
        let record = try await second.ending(of: ended[2])
        #expect(record.state == .completed, "\(second.words(ended[2]))")
        #expect(second.ranges == [rest(from: 300_000)])
        #expect(await store.calls.wait { $0.contains("forget") })
        #expect(store.calls.value.first == "claim")
        await second.manager.close()
        #expect(try await store.records(.all).count == 2)
    }

    @Test("A partial file that cannot be deleted is reported, and the others are removed")
    func undeletable() async throws {
        let (first, ended, _) = try await left()
        let store = ClaimLog(try await aged(first))
        // A folder in place of the partial file cannot be unlinked. The session tries to unlink it, because the record
        // has no identity of the file.
        var record = try #require(try await store.claim([ended[1]], session: "s").first?.record)
        record.state = .failed(.cancelled)
        record.updated = Date(timeIntervalSinceNow: -3 * Self.hour)
        record.resume.file = nil
        #expect(try await store.save([record], session: "s").isEmpty)
        try FileManager.default.removeItem(atPath: first.folder("failed.part"))
        try FileManager.default.createDirectory(
            atPath: first.folder("failed.part"), withIntermediateDirectories: false)
        let notices = Observed<[String]>([])
        let second = try await next(first, store, age: Self.hour) { notice in notices.update { $0.append(notice) } }
        try await second.manager.start()
        #expect(await store.forgotten.wait { Set(ended).isSubset(of: $0) })
        await second.manager.close()
        #expect(notices.value.count == 1 && notices.value.first?.contains("failed.part") == true, "\(notices.value)")
        #expect(first.folder.names() == ["done", "failed.part", "paused.part"])
    }
}

/// A store that records the order in which a session claims and forgets downloads. A claim takes some time.
private final class ClaimLog: ForwardingStore {
    let inner: any DownloadStore
    let calls = Observed<[String]>([])
    let forgotten = Observed<[DownloadID]>([])

    init(_ inner: any DownloadStore) { self.inner = inner }

    func add(_ requests: RequestList, session: String) async throws -> [AddedDownload] {
        let added = try await inner.add(requests, session: session)
        await note("claim")
        return added
    }

    func claim(
        _ ids: [DownloadID], session: String, includingCompleted: Bool
    ) async throws -> [ClaimedDownload] {
        let claimed = try await inner.claim(ids, session: session, includingCompleted: includingCompleted)
        await note("claim")
        return claimed
    }

    func removeEnded(before date: Date, limit: Int) async throws -> [DownloadRecord] {
        calls.update { $0.append("forget") }
        let removed = try await inner.removeEnded(before: date, limit: limit)
        forgotten.update { $0 += removed.map(\.id) }
        return removed
    }

    private func note(_ call: String) async {
        for _ in 0..<200 { await Task.yield() }
        calls.update { $0.append(call) }
    }
}
