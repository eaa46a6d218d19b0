import DownloadSystem
import DownloadTestSupport
import Foundation
import Synchronization
import Testing

@testable import DownloadCore
@testable import DownloadEngine

/// The queue, its order and its limits.
@Suite("SessionManager: what runs when", .inTurn, .timeLimit(.minutes(1)))
struct SessionManagerTests {
    @Test("When a download has all its bytes, it gives its slot to the next one while its file is being finished")
    func finishingNeedsNoSlot() async throws {
        let gate = StoreGate()
        let store = GatedStore(
            .init(beforeSave: { records in
                if records.contains(where: { $0.isFinishing && $0.id == 1 }) { await gate.pass() }
            }))
        let bench = try await SessionBench(store: store, maxConcurrent: 1) { _, _ in .reply(FaultReply(Content("x"))) }
        let ids = try await bench.manager.add([try bench.request("/a"), try bench.request("/b")]).map(\.record.id)
        #expect(await bench.transport.waitForRequests(2))
        gate.open()
        for id in ids { #expect(try await bench.ending(of: id).state == .completed) }
    }

    @Test("A filled gap is not the end of a download: the slot is kept until every byte is there")
    func gapsKeepTheSlot() async throws {
        let content = Content(seed: 2, size: 3_000_000)
        let reply = FaultReply(content, etag: "\"a\"")
        let bench = try await SessionBench(maxConcurrent: 1) { request, asked in
            // The small gap is filled, and the large gap stalls.
            .reply(asked.number == 1 ? reply : reply.with { $0.cut = .stall(after: 1000 + Overlap.joined) })
        }
        let id = try await bench.takeOver(try bench.request("/a")) { record in
            let file = try PartialFile.open(folder: bench.folder.path, name: "a", mode: .create, followsLinks: true)
            for range in [0..<100_000, 150_000..<1_000_000] as [Range<Int64>] {
                content.bytes(range).withUnsafeBytes { file.write($0, at: range.lowerBound) }
            }
            file.unlock()
            record.fileName = "a"
            record.resume.total = content.size
            record.resume.validators = Validators(etag: EntityTag(opaque: "a"))
            record.resume.file = file.identity
            record.resume.device = file.device
            record.resume.bootID = FileStatus.bootID
            record.resume.written = file.written
        }
        let compared = Overlap.resumed + 2 * Overlap.joined
        #expect(await bench.transport.taken.wait { $0 == 51_000 + compared })
        try await bench.add("/b")
        #expect(await bench.manager.knownBook[active: id]?.stage == .running)
        #expect(bench.ranges == ["83616-150511", "999488-"])
        await bench.manager.pauseAll(.user)
        #expect(try await bench.ending(of: id).resume.written.count == 100_000 + 850_000 + 51_000)
    }

    @Test("If there are more downloads than fit into the queue's window, all complete, even those with a retry")
    func beyondTheWindow() async throws {
        let failed = Mutex<Set<String>>([])
        let bench = try await SessionBench(maxConcurrent: 3) { request, _ in
            let isFirst = failed.withLock { $0.insert(request.url.path).inserted }
            let number = Int(request.url.path.dropFirst()) ?? 0
            return .reply(isFirst && number.isMultiple(of: 7) ? FaultReply(status: 503) : FaultReply(Content("x")))
        }
        for chunk in 0..<3 {
            _ = try await bench.manager.add((0..<400).map { try bench.request("/\(chunk * 400 + $0)") })
        }
        #expect(await bench.ends.wait(atMost: .seconds(50)) { $0.count == 1200 })
        #expect(bench.folder.names().count == 1200)
        #expect(!bench.events.value.contains { $0.word == "fail" })
        #expect(await bench.freeBuffers() == BufferPool.standardCapacity)
    }

    /// Returns a store whose first two reads of the queue fail, and the number of reads.
    private static func failingTwice() -> (store: GatedStore, reads: Observed<Int>) {
        let reads = Observed(0)
        let store = GatedStore(
            .init(beforeQueued: {
                reads.update { $0 += 1 }
                if reads.value <= 2 { throw DownloadError.unexpected("the store is locked") }
            }))
        return (store, reads)
    }

    @Test("After a failure to read the queue, the store is asked again")
    func storeFailsToLoad() async throws {
        let bench = try await SessionBench(store: Self.failingTwice().store, maxConcurrent: 4) { _, _ in
            .reply(FaultReply(Content("x")))
        }
        let ids = try await bench.manager.add((0..<520).map { try bench.request("/\($0)") }).map(\.record.id)
        for id in ids { #expect(try await bench.ending(of: id).state == .completed) }
    }

    @Test("After a failure to read the downloads of free origins, the store is asked again, even if none ends")
    func storeFailsToLoadOthers() async throws {
        let (store, reads) = Self.failingTwice()
        let bench = try await SessionBench(store: store, maxConcurrent: 4, maxPerHost: 1) { request, _ in
            let isBusy = request.url.host == "busy.example"
            return .reply(FaultReply(Content("x")).with { $0.cut = isBusy ? .stall(after: 0) : nil })
        }
        let busy = try (0..<SessionBench.mostQueued + 10).map { try bench.request(host: "busy.example", "/\($0)") }
        let ids = try await bench.manager.add(busy + [bench.request(host: "free.example")]).map(\.record.id)
        #expect(try await bench.ending(of: #require(ids.last)).state == .completed)
        #expect(reads.value > 2)
    }

    @Test("Every stream gets all events in the same order, and ends with the session")
    func streams() async throws {
        let bench = try await SessionBench(serving: FaultReply(Content("x")))
        let streams = [await bench.manager.events(), await bench.manager.events()]
        let ids = try await bench.manager.add((0..<20).map { try bench.request("/\($0)") }).map(\.record.id)
        for id in ids { _ = try await bench.ending(of: id) }
        await bench.manager.close()
        var heard: [[String]] = []
        for stream in streams {
            var words: [String] = []
            for await event in stream { words.append("\(event.snapshot.id) \(event.word)") }
            heard.append(words)
        }
        #expect(heard[0] == heard[1])
        #expect(heard[0].count == 60)
        for id in ids {
            #expect(heard[0].filter { $0.hasPrefix("\(id) ") } == ["\(id) add", "\(id) start 0", "\(id) complete"])
        }
        var late = await bench.manager.events().makeAsyncIterator()
        #expect(await late.next() == nil)
    }

    @Test("A closed session accepts no more downloads", arguments: [true, false])
    func closed(hasRun: Bool) async throws {
        let bench = try await SessionBench(serving: FaultReply(Content("x")))
        if hasRun { _ = try await bench.ending(of: try await bench.add()) }
        await bench.manager.close()
        await #expect(throws: DownloadError.sessionUnavailable(.shuttingDown)) { try await bench.add("/other") }
    }
}
