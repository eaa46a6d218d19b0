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
        #expect(await bench.manager.knownBook.scheduler.running.isEmpty, sourceLocation: location)
        #expect(await bench.manager.knownBook.places.isEmpty, sourceLocation: location)
    }

    @Test("A file that the store still shows as queued does not begin again when the queue is read")
    func knownFiles() async throws {
        // Without ticks, the book does not know the first file.
        let bench = try await SessionBench(maxConcurrent: 2, time: ManualTime()) { request, _ in
            .reply(request.url.path == "/0" ? Self.reply.with { $0.cut = .stall(after: 1) } : Self.reply)
        }
        let ids = try await add(700, to: bench)
        for id in ids.dropFirst() { #expect(try await bench.ending(of: id).state == .completed) }
        #expect(await bench.manager.knownBook.places.isEmpty)
        expectOnce(bench)
        #expect(await bench.manager.progress().map(\.id) == [ids[0]])
        await bench.manager.pauseAll(.user)
        #expect(try await bench.record(ids[0]).state == .paused(.user))
        await expectNoSlots(bench)
    }

    @Test("A download that ends while the queue is being read does not begin again", arguments: [true, false])
    func outdatedQueue(isSmall: Bool) async throws {
        let store = GatedStore()
        let bench = try await SessionBench(store: store, maxConcurrent: 2, time: ManualTime()) { _, _ in
            .reply(Self.reply)
        }
        let reads = Observed(0)
        store.change { gates in
            gates.afterQueued = {
                reads.update { $0 += 1 }
                let count = bench.ends.value.count
                _ = await bench.ends.wait { $0.count >= count + (isSmall ? 5 : 1) }
            }
        }
        let requests = try (0..<200).map { number in
            // A small file cannot have a time limit.
            try bench.request("/\(number)") { $0.timeouts.total = isSmall ? nil : .seconds(600) }
        }
        let ids = try await bench.manager.add(requests).map(\.id)
        #expect(try await bench.ending(of: ids[0]).state == .completed)
        // A claim that changes nothing makes the session read the queue from its start.
        _ = try await bench.manager.resume([ids[0]], overrides: RequestOverrides())
        for id in ids { #expect(try await bench.ending(of: id).state == .completed) }
        #expect(reads.value > 0)
        expectOnce(bench)
        await expectNoSlots(bench)
    }

    @Test("Downloads whose addition the session does not know yet do not begin when the queue is read")
    func lateAddition() async throws {
        let store = GatedStore()
        let bench = try await SessionBench(store: store, maxConcurrent: 2, time: ManualTime()) { _, _ in
            .reply(Self.reply)
        }
        // Some of these find no room in memory, so the store would be read again.
        let ids = try await add(SessionBench.mostQueued + 10, to: bench)
        store.change { gates in
            gates.afterAdd = { _ = await bench.ends.wait { $0.count >= SessionBench.mostQueued } }
        }
        // In the store, they come first.
        let requests = try (0..<100).map { try bench.request("/late\($0)") { $0.priority = 1 } }
        let late = try await bench.manager.add(requests).map(\.id)
        for id in ids + late { #expect(try await bench.ending(of: id).state == .completed) }
        expectOnce(bench)
        for id in late { #expect(bench.words(id) == ["add", "start 0", "complete"]) }
        await expectNoSlots(bench)
    }

    @Test("A download that is cancelled before the answer to its addition comes does not begin")
    func cancelledAddition() async throws {
        let (store, gate) = (GatedStore(), StoreGate())
        let bench = try await SessionBench(store: store, time: ManualTime()) { _, _ in .reply(Self.reply) }
        store.change { $0.afterAdd = { await gate.pass() } }
        async let added = bench.manager.add([try bench.request()])
        #expect(await gate.isReached())
        let id = try #require(try await store.records(.all).first).id
        _ = try await bench.manager.change([id], .cancel)
        gate.open()
        #expect(try await added.map(\.id) == [id])
        // An ended download shows that the queue was read since.
        #expect(try await bench.ending(of: bench.add("/other.bin")).state == .completed)
        #expect(try await bench.record(id).state == .cancelled)
        #expect(bench.transport.requests.map(\.url.path) == ["/other.bin"])
        await expectNoSlots(bench)
    }

    /// Returns three files that have not begun, and a lane that no session uses.
    private func threeFiles() async throws -> (SessionBench, SmallFileLane, [SmallFileAttempt]) {
        let bench = try await SessionBench(serving: Self.reply.with { $0.cut = .stall(after: 1) })
        try await bench.manager.begin()
        let context = try #require(await bench.manager.context)
        let lane = SmallFileLane(context: context, files: SmallFileQueue(), mostByFiles: 8, for: bench.manager)
        let files = try (1...3).map { number in
            let record = DownloadRecord(
                id: DownloadID(number), request: try bench.request("/\(number)"), created: Date())
            return try #require(lane.attempt(at: DownloadEntry(record), prefersMultiplexing: false))
        }
        return (bench, lane, files)
    }

    @Test("A look that leaves out a file whose bytes have come leaves it to the next look")
    func looks() async throws {
        let (bench, lane, files) = try await threeFiles()
        let queue = lane.files
        _ = queue.begin(files[0])
        _ = queue.passOn(the: files[0], isFull: true)
        _ = queue.begin(files[1])
        #expect(queue.enter(onlyTransferring: true).files.map(\.attempt.id) == [2])
        #expect(queue.enter().files.map(\.attempt.id) == [1])
        #expect(queue.enter().files.isEmpty)
        // A file that ends before anybody looks is not found, but it is found if it begins again.
        _ = queue.begin(files[2])
        #expect(queue.remove([3]).isEmpty && queue.enter().files.isEmpty)
        _ = queue.begin(files[2])
        #expect(queue.enter().files.map(\.attempt.id) == [3])
        await bench.manager.close()
    }

    @Test("A file that the book knows passes its slot on under another number")
    func slots() async throws {
        let (bench, lane, files) = try await threeFiles()
        let queue = lane.files
        let slot = queue.begin(files[0])
        queue.add(Array(files[1...]), areAll: true)
        #expect(queue.enter().files.map(\.slot) == [slot])
        _ = queue.passOn(the: files[0], isFull: false)
        guard case .passed(1, let own)? = queue.takeNews().first else {
            Issue.record("the book is not told that the slot was passed on")
            return
        }
        #expect(own < 0 && own != slot)
        let second = try #require(queue.enter().files.first)
        #expect(second.attempt.id == 2 && second.slot == own)
        // Too many files wait for their names, so that the third does not begin.
        _ = queue.passOn(the: second.attempt, isFull: true)
        guard case .freed(2)? = queue.takeNews().first else {
            Issue.record("the book is not told that the slot is free")
            return
        }
        #expect(queue.count == 1 && queue.remove([1, 2, 3]) == [1, 2])
        await bench.manager.close()
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
        #expect(bench.transport.requests.count == 1)
        gate.open()
        #expect(try await bench.ending(of: id, times: 2).state == .completed)
        #expect(try bench.holds("file.bin", Self.content))
        #expect(bench.transport.requests.count == 2)
        await expectNoSlots(bench)
    }

    @Test("A command stops a file that has begun and that nobody has looked at")
    func cancelled() async throws {
        let bench = try await SessionBench(maxConcurrent: 1, time: ManualTime()) { request, _ in
            .reply(request.url.path == "/0" ? Self.reply.with { $0.cut = .stall(after: 1) } : Self.reply)
        }
        let ids = try await add(3, to: bench)
        #expect(await bench.transport.taken.wait { $0 == 1 })
        #expect(try await bench.manager.cancel([ids[0]]).map(\.didChange) == [true])
        for id in ids.dropFirst() { #expect(try await bench.ending(of: id).state == .completed) }
        #expect(try await bench.record(ids[0]).state == .cancelled)
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
