import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore
@testable import DownloadEngine

/// Small files have no places in the session's book before somebody looks at them.
@Suite("SessionManager: small files that the book does not know", .inTurn, .timeLimit(.minutes(1)))
struct SmallFileQueueTests {
    private static let content = Content(seed: 50, size: 3000)
    private static let reply = FaultReply(content, etag: "\"v1\"")

    /// Adds downloads of "/0", "/1" and so on.
    private func add(_ count: Int, to bench: SessionBench) async throws -> [DownloadID] {
        try await bench.manager.add((0..<count).map { try bench.request("/\($0)") }).map(\.id)
    }

    private func expectOnce(_ bench: SessionBench, _ location: SourceLocation = #_sourceLocation) {
        let counts = Dictionary(bench.transport.requests.map { ($0.url.path, 1) }, uniquingKeysWith: +)
        #expect(counts.filter { $0.value != 1 }.isEmpty, sourceLocation: location)
    }

    private func expectNoSlots(_ bench: SessionBench, _ location: SourceLocation = #_sourceLocation) async {
        #expect(await bench.manager.book.scheduler.running.isEmpty, sourceLocation: location)
        #expect(await bench.manager.book.places.isEmpty, sourceLocation: location)
    }

    @Test("A file that the store still shows as queued does not begin again when the queue is read")
    func knownFiles() async throws {
        // Without ticks, the book does not know the first file.
        let bench = try await SessionBench(maxConcurrent: 2, time: ManualTime()) { request, _ in
            .reply(request.url.path == "/0" ? Self.reply.with { $0.cut = .stall(after: 1) } : Self.reply)
        }
        let ids = try await add(700, to: bench)
        for id in ids.dropFirst() { #expect(try await bench.ending(of: id).state == .completed) }
        #expect(await bench.manager.book.places.isEmpty)
        expectOnce(bench)
        #expect(await bench.manager.progress().map(\.id) == [ids[0]])
        await bench.manager.pauseAll(.user)
        #expect(try await bench.record(ids[0]).state == .paused(.user))
        await expectNoSlots(bench)
    }

    @Test("A file that ends while the queue is being read does not begin again")
    func outdatedQueue() async throws {
        let store = GatedStore()
        let bench = try await SessionBench(
            store: store, maxConcurrent: 2, time: ManualTime(), { _, _ in .reply(Self.reply) })
        let before = Observed<Int?>(nil)
        store.change { gates in
            gates.afterQueued = {
                if before.value != nil { return }
                let count = bench.ends.value.count
                before.update { $0 = count }
                _ = await bench.ends.wait { $0.count >= count + 10 }
            }
        }
        let ids = try await add(700, to: bench)
        for id in ids { #expect(try await bench.ending(of: id).state == .completed) }
        #expect(before.value.map { $0 < 690 } == true, "the queue was read too late")
        expectOnce(bench)
        await expectNoSlots(bench)
    }

    @Test("A completed file that is requested again before its session knows its end is fetched again after that")
    func againAtTheEnd() async throws {
        let store = GatedStore()
        let bench = try await SessionBench(
            store: store, maxConcurrent: 1, time: ManualTime(), { _, _ in .reply(Self.reply) })
        let gate = StoreGate()
        store.change { gates in
            gates.afterSave = { records in
                if records.contains(where: { $0.state == .completed }) { await gate.pass() }
            }
        }
        let id = try await bench.add()
        #expect(await gate.isReached())
        try FileManager.default.removeItem(atPath: bench.folder("file.bin"))
        #expect(try await bench.manager.add([bench.request()]).map(\.kind) == [.adopted])
        gate.open()
        #expect(try await bench.ending(of: id, times: 2).state == .completed)
        #expect(try bench.holds("file.bin", Self.content))
        #expect(bench.transport.requests.count == 2)
        await expectNoSlots(bench)
    }

    @Test("Looking at the progress all the time changes nothing for the files")
    func watched() async throws {
        let bench = try await SessionBench(serving: Self.reply)
        let watching = Task {
            while !Task.isCancelled {
                for progress in await bench.manager.progress() { #expect(progress.state == .running) }
                _ = try? await bench.manager.status()
            }
        }
        let ids = try await add(600, to: bench)
        for id in ids { #expect(try await bench.ending(of: id).state == .completed) }
        watching.cancel()
        await watching.value
        #expect(bench.transport.mostAtOnce <= 8)
        expectOnce(bench)
        await expectNoSlots(bench)
        #expect(await bench.freeBuffers() == BufferPool.standardCapacity)
        #expect(ids.allSatisfy { bench.words($0) == ["add", "start 0", "complete"] })
    }

    @Test(
        "Commands for random files of a long list leave each file complete, paused, cancelled or removed",
        arguments: 0..<4)
    func commands(seed: UInt64) async throws {
        let bench = try await SessionBench(maxConcurrent: 3) { _, _ in .reply(Self.reply) }
        let ids = try await add(300, to: bench)
        var random = SplitMix64(seed: seed)
        for _ in 0..<40 {
            let some = (0..<3).map { _ in ids.randomElement(using: &random) ?? ids[0] }.firstOccurrences
            do {
                switch Int.random(in: 0..<6, using: &random) {
                case 0: _ = try await bench.manager.pause(some)
                case 1: _ = try await bench.manager.cancel(some)
                case 2: try await bench.manager.remove(some, deletesFile: false)
                case 3: _ = try await bench.manager.resume(some, overrides: RequestOverrides())
                case 4: _ = try await bench.manager.change(some, .priority(.random(in: -1...1, using: &random)))
                default: _ = try await bench.manager.snapshots(.all)
                }
            } catch DownloadError.noSuchDownload {
                continue
            }
        }
        let left = try await bench.store.records(.all).map(\.id)
        _ = try await bench.manager.resume(left, overrides: RequestOverrides())
        for id in left {
            while true {
                let ends = bench.ends.value[id, default: 0]
                if try await bench.record(id).state == .completed { break }
                try #require(await bench.ends.wait { $0[id, default: 0] > ends }, "\(bench.words(id))")
            }
        }
        for record in try await bench.store.records(.all) {
            #expect(record.state == .completed)
            #expect(try bench.holds(record.fileName ?? "", Self.content))
        }
        await expectNoSlots(bench)
    }
}
