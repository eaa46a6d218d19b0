import DownloadTestSupport
import Foundation
import HTTPTypes
import Synchronization
import Testing

@testable import DownloadCore
@testable import DownloadEngine

/// A session that ends, on request or by a signal, must end promptly, with everything on disk.
@Suite("SessionManager: stopping", .inTurn, .timeLimit(.minutes(1)))
struct StoppingTests {
    private static let content = Content(seed: 1, size: 600_000)
    private static let reply = FaultReply(content, etag: "\"a\"")

    @Test("A stop pauses each download at once with its bytes, whatever the download is doing")
    func everything() async throws {
        // The downloads are stalled after some bytes, without a byte of the body, between two attempts, or queued.
        // Nobody advances the bench's `ManualTime`, so a stop that waits for time to pass would never return.
        let bench = try await SessionBench(maxConcurrent: 20, maxPerHost: 20, time: ManualTime()) { request, _ in
            switch Int(request.url.path.dropFirst()) ?? 0 {
            case 0..<8: .reply(Self.reply.with { $0.cut = .stall(after: 400_000) })
            case 8..<16: .scripted(.of(200), body: [], ending: nil)
            default: .reply(FaultReply(status: 503, fields: [("Retry-After", "60")]))
            }
        }
        let ids = try await bench.manager.add((0..<100).map { try bench.request("/\($0)") }).map(\.record.id)
        #expect(await bench.transport.taken.wait { $0 == 8 * 400_000 })
        // After a 503 with Retry-After, the session starts no download from this host. The other downloads stay queued.
        #expect(await bench.events.wait { $0.count { $0.word == "retry" } == 4 })
        await bench.manager.pauseAll(.interrupt)
        let records = try await bench.store.records(.ids(ids))
        #expect(records.allSatisfy { $0.state == .paused(.interrupt) && $0.session == nil })
        #expect(records.prefix(8).allSatisfy { $0.resume.written == ByteRanges([0..<400_000]) })
        #expect(records.dropFirst(8).allSatisfy { $0.resume.written.isEmpty })
        #expect(bench.folder.names() == (0..<8).map { "\($0).part" })
        // Only the downloads that had begun are announced as paused, each of them once.
        #expect(bench.transport.requests.count == 20)
        #expect(await bench.events.wait { $0.count { $0.word == "pause" } >= 20 })
        let paused = bench.events.value.filter { $0.word == "pause" }.map(\.snapshot.id)
        #expect(paused.sorted() == Array(ids.prefix(20)))
        #expect(await bench.manager.progress().isEmpty)
        #expect(await bench.freeBuffers() == BufferPool.standardCapacity)
    }

    @Test("All downloads wait for a slow store at the same time, not one after the other")
    func slowStore() async throws {
        let saving = Observed<Set<DownloadID>>([])
        let store = GatedStore()
        let bench = try await SessionBench(store: store, maxConcurrent: 20, maxPerHost: 20) { _, _ in
            .reply(Self.reply.with { $0.cut = .stall(after: 400_000) })
        }
        let ids = try await bench.manager.add((0..<20).map { try bench.request("/\($0)") }).map(\.record.id)
        #expect(await bench.transport.taken.wait { $0 == 20 * 400_000 })
        // No save returns before every download has a save under way.
        store.change { trouble in
            trouble.beforeSave = { records in
                saving.update { $0.formUnion(records.map(\.id)) }
                #expect(await saving.wait { $0.count == 20 })
            }
        }
        await bench.manager.pauseAll(.terminate)
        #expect(try await bench.store.records(.ids(ids)).allSatisfy { $0.state == .paused(.terminate) })
    }

    @Test("A stop right after the start takes effect")
    func atOnce() async throws {
        for _ in 0..<20 {
            let bench = try await SessionBench { _, _ in .reply(Self.reply.with { $0.cut = .stall(after: 1) }) }
            let ids = try await bench.manager.add((0..<10).map { try bench.request("/\($0)") }).map(\.record.id)
            await bench.manager.pauseAll(.user)
            #expect(try await bench.store.records(.ids(ids)).allSatisfy { $0.state == .paused(.user) })
            await bench.manager.close()
        }
    }

    @Test("If the store cannot save the end of an attempt, a change fails until the save works")
    func fullStore() async throws {
        let store = GatedStore()
        let bench = try await SessionBench(store: store) { _, asked in
            .reply(asked.number == 1 ? Self.reply.with { $0.cut = .stall(after: 400_000) } : Self.reply)
        }
        let id = try await bench.add()
        #expect(await bench.transport.taken.wait { $0 == 400_000 })
        let full = DownloadError.unexpected("the disk is full")
        store.change { $0.beforeSave = { _ in throw full } }
        await #expect(throws: full) { try await bench.manager.change([id], .pause) }
        await #expect(throws: full) { try await bench.manager.change([id], .cancel) }
        store.change { $0.beforeSave = nil }
        let resumed = try await bench.manager.resume([id], overrides: RequestOverrides())
        try #require(resumed.first?.kind == .claimed)
        #expect(try await bench.ending(of: id, times: 2).state == .completed)
    }

    @Test("If the store cannot save a wait between two attempts, the download fails, and a stop does not wait")
    func fullStoreBetweenAttempts() async throws {
        let store = GatedStore()
        let bench = try await SessionBench(store: store) { _, _ in .reply(FaultReply(status: 503)) }
        store.change { trouble in
            trouble.beforeSave = { records in
                if records.contains(where: { $0.state.kind == .waiting }) { throw DownloadError.unexpected("full") }
            }
        }
        let id = try await bench.add()
        #expect(await bench.events.wait { $0.contains { $0.word == "fail" } })
        await bench.manager.pauseAll(.user)
        #expect(try await bench.ending(of: id).state == .failed(.unexpected("full")))
    }

    @Test("Two stops at once both return when all is done")
    func twice() async throws {
        let bench = try await SessionBench(serving: Self.reply.with { $0.cut = .stall(after: 400_000) })
        let id = try await bench.add()
        #expect(await bench.transport.taken.wait { $0 == 400_000 })
        async let first: Void = bench.manager.pauseAll(.interrupt)
        async let second: Void = bench.manager.close()
        _ = await (first, second)
        #expect(try await bench.record(id).state.kind == .paused)
    }

    @Test("A stop at a random moment loses no saved byte, and the download can be resumed", arguments: 0..<12)
    func anyMoment(seed: UInt64) async throws {
        let content = Content(seed: seed, size: 30_000_000)
        let reply = FaultReply(content, etag: "\"a\"")
        var random = SplitMix64(seed: seed)
        let limit = Int64.random(in: 1...content.size, using: &random)
        let connections = Int.random(in: 1...4, using: &random)
        var bench = try await SessionBench(serving: reply)
        let first = bench
        let id = try await bench.add { $0.connections = .fixed(connections) }
        #expect(await bench.transport.taken.wait { $0 >= limit })
        await bench.manager.pauseAll(.user)
        var record = try await bench.record(id)
        await bench.manager.close()
        if record.state != .completed {
            #expect(record.resume.written.count > 0)
            let before = record.resume.written.count
            bench = try await SessionBench(after: first, session: "second", serving: reply)
            _ = try await bench.manager.resume([id], overrides: RequestOverrides())
            record = try await bench.ending(of: id)
            #expect(bench.transport.taken.value <= content.size - before + content.size / 20)
        }
        #expect(record.state == .completed)
        #expect(try first.holds("file.bin", content))
    }

    @Test("The time limit ends an attempt that receives no more bytes")
    func deadline() async throws {
        let time = ManualTime()
        let bench = try await SessionBench(time: time) { _, _ in
            let reply = FaultReply(Content(seed: 73, size: 1 << 20), etag: "\"v1\"")
            return .reply(reply.with { $0.cut = .stall(after: 1 << 19) })
        }
        let id = try await bench.add {
            $0.timeouts.total = .seconds(1800)
            $0.connections = 1
        }
        #expect(await bench.transport.taken.wait { $0 >= 1 << 19 })
        time.advance(by: .seconds(1799))
        #expect(try await bench.record(id).state.kind.isActive)
        time.advance(by: .seconds(2))
        #expect(try await bench.ending(of: id).state.error?.reason == "timeLimit")
        #expect(try await bench.record(id).received == 1 << 19)
    }

    // MARK: Stores

    @Test("If the store cannot save the end of a download, the file does not get its final name")
    func storeFails() async throws {
        let store = GatedStore(
            .init(beforeSave: { records in
                if records.contains(where: \.isFinishing) { throw DownloadError.unexpected("disk full") }
            }))
        let bench = try await SessionBench(store: store, serving: Self.reply)
        let id = try await bench.add()
        let record = try await bench.ending(of: id)
        #expect(record.state == .failed(.unexpected("disk full")))
        #expect(!record.isFinishing)
        #expect(bench.folder.names() == ["file.bin.part"])
        store.change { $0.beforeSave = nil }
        _ = try await bench.manager.resume([id], overrides: RequestOverrides())
        #expect(try await bench.ending(of: id, times: 2).state == .completed)
        #expect(bench.ranges.count == 1)
    }

    @Test("If the store saves nothing at all, the download is announced as failed, not as paused")
    func storeIsGone() async throws {
        let store = GatedStore()
        let bench = try await SessionBench(store: store, serving: Self.reply.with { $0.cut = .stall(after: 400_000) })
        let id = try await bench.add()
        #expect(await bench.transport.taken.wait { $0 == 400_000 })
        store.change { $0.beforeSave = { _ in throw DownloadError.unexpected("gone") } }
        await bench.manager.pauseAll(.user)
        #expect(await bench.events.wait { $0.last?.word == "fail" })
        #expect(bench.words(id) == ["add", "start 0", "fail"])
    }

    @Test("If another session took over a download, it ends here, and its partial file stays")
    func disowned() async throws {
        let store = GatedStore()
        let bench = try await SessionBench(store: store, serving: Self.reply.with { $0.cut = .stall(after: 400_000) })
        let id = try await bench.add()
        #expect(await bench.transport.taken.wait { $0 == 400_000 })
        store.change { $0.loses = { $0.id == id } }
        #expect(await bench.events.wait { $0.contains(where: \.isEnd) })
        guard case .didFail(_, .sessionUnavailable(.ownedElsewhere(id, _)))? = bench.events.value.last else {
            Issue.record("ended otherwise: \(bench.words(id))")
            return
        }
        #expect(bench.folder.names() == ["file.bin.part"])
        let file = try PartialFile.open(folder: bench.folder.path, name: "file.bin", mode: .reopen, followsLinks: true)
        #expect(try file.length() >= 400_000)
    }
}
