import DownloadTestSupport
import Foundation
import HTTPTypes
import Testing

@testable import DownloadCore
@testable import DownloadEngine

/// Downloads that are stopped, cut off or refused for a while. The fetched bytes are kept and used.
@Suite("Downloads that are interrupted", .inTurn, .timeLimit(.minutes(2)))
struct InterruptionTests {
    private static let content = Content(seed: 1, size: 2_000_000)
    private static let reply = FaultReply(content, etag: "\"a\"")

    @Test("A stop leaves exact resume data, and another session requests exactly the rest")
    func stopAndResume() async throws {
        let first = try await SessionBench(serving: Self.reply.with { $0.cut = .stall(after: 700_001) })
        let id = try await first.add()
        #expect(await first.transport.taken.wait { $0 == 700_001 })
        await first.manager.pauseAll(.interrupt)
        let paused = try await first.ending(of: id)
        #expect(paused.state == .paused(.interrupt))
        #expect(paused.session == nil)
        #expect(paused.resume.written == ByteRanges([0..<700_001]))
        #expect(paused.attempts.last?.outcome == "stopped")
        #expect(first.folder.names() == ["file.bin.part"])
        #expect(first.words(id) == ["add", "start 0", "pause"])
        #expect(await first.freeBuffers() == BufferPool.standardCapacity)
        await first.manager.close()

        let second = try await SessionBench(after: first, session: "second", serving: Self.reply)
        _ = try await second.manager.resume([id], overrides: RequestOverrides())
        #expect(try await second.ending(of: id).state == .completed)
        #expect(second.ranges == [rest(from: 700_001)])
        #expect(second.transport.requests.first?.options.fields[.ifRange] == "\"a\"")
        #expect(second.transport.taken.value == Self.content.size - 700_001 + Overlap.resumed)
        #expect(second.words(id) == ["resume", "start 700001", "complete"])
        #expect(try second.holds("file.bin", Self.content))
    }

    @Test("Several connections are stopped, and each part is continued where it was")
    func stopSeveral() async throws {
        let content = Content(seed: 2, size: 60_000_000)
        let reply = FaultReply(content, etag: "\"a\"")
        // The probe fetches its 4 MiB; then each of three connections stalls after 1,000,000 bytes.
        let first = try await SessionBench { _, asked in
            .reply(reply.with { $0.cut = asked.number == 1 ? nil : .stall(after: 1_000_000) })
        }
        let id = try await first.add { $0.connections = 3 }
        #expect(await first.transport.taken.wait { $0 == 4 << 20 + 3_000_000 })
        await first.manager.pauseAll(.terminate)
        let paused = try await first.record(id)
        // Two of the three connections begin with some bytes of the part before theirs. Bytes that are on disk already
        // do not count again.
        #expect(paused.resume.written.count == 4 << 20 + 3_000_000 - Overlap.joined)
        await first.manager.close()

        let second = try await SessionBench(after: first, session: "second", serving: reply)
        var overrides = RequestOverrides()
        overrides.connections = 2
        _ = try await second.manager.resume([id], overrides: overrides)
        #expect(try await second.ending(of: id).state == .completed)
        // The sink may take a little less than the missing bytes, because the last piece of a cut transfer counts as
        // refused. It may take a little more, because some bytes arrive before the cut.
        let missing = content.size - paused.resume.written.count
        #expect((missing - missing / 20...missing + missing / 20).contains(second.transport.taken.value))
        #expect(try second.holds("file.bin", content))
    }

    @Test(
        "Without a strong validator all existing bytes are compared; with permission or a checksum only the last ones",
        arguments: [Proof.none, .weak, .wish, .checksum])
    func overlap(proof: Proof) async throws {
        let reply = FaultReply(Self.content, etag: proof == .weak ? "W/\"a\"" : nil)
        let first = try await SessionBench(serving: reply.with { $0.cut = .stall(after: 300_000) })
        let id = try await first.add {
            if proof == .checksum { $0.checksum = Checksum("sha256:\(Self.content.sha256)") }
        }
        #expect(await first.transport.taken.wait { $0 == 300_000 })
        await first.manager.pauseAll(.user)
        await first.manager.close()
        let second = try await SessionBench(after: first, session: "second", serving: reply)
        var overrides = RequestOverrides()
        overrides.acceptsUnverified = proof == .wish
        _ = try await second.manager.resume([id], overrides: overrides)
        #expect(try await second.ending(of: id).state == .completed)
        let comparesAll = proof == .none || proof == .weak
        #expect(second.ranges == [comparesAll ? "0-" : "\(300_000 - 65536)-"])
        #expect(second.words(id) == ["resume"] + (comparesAll ? ["restart"] : []) + ["start 300000", "complete"])
        #expect(try second.holds("file.bin", Self.content))
    }

    enum Proof { case none, weak, wish, checksum }

    @Test("Bytes that differ in the comparison are dropped, and a connection lost meanwhile loses no bytes")
    func changedFarAway() async throws {
        let old = FaultReply(Self.content)
        let new = FaultReply(Self.content.flipping(250))
        let bench = try await SessionBench { _, asked in
            switch asked.number {
            case 1: .reply(old.with { $0.cut = .close(after: 400_000) })
            case 2: .reply(old.with { $0.cut = .close(after: 300_000) })
            default: .reply(new)
            }
        }
        let id = try await bench.add()
        #expect(try await bench.ending(of: id).state == .completed)
        #expect(bench.ranges == ["0-", "0-", "0-", "0-"])
        #expect(
            bench.words(id) == [
                "add", "start 0", "retry", "restart", "start 400000", "retry", "restart", "start 400000", "restart",
                "start 0", "complete",
            ])
        #expect(try bench.holds("file.bin", new.content))
    }

    @Test("A body that ends with its connection is not accepted until something proves its end")
    func endOfConnection() async throws {
        let reply = FaultReply(Self.content).with {
            $0.framing = .closeDelimited
            $0.ranges = .ignored
        }
        let bench = try await SessionBench(serving: reply)
        let id = try await bench.add()
        #expect(try await bench.ending(of: id).state == .failed(.verificationFailed(.endUnproved)))
        #expect(bench.folder.names() == ["file.bin.part"])
        var overrides = RequestOverrides()
        overrides.acceptsUnverified = true
        await bench.manager.close()
        let second = try await SessionBench(after: bench, session: "second", serving: reply)
        _ = try await second.manager.resume([id], overrides: overrides)
        #expect(try await second.ending(of: id).state == .completed)
        #expect(try second.holds("file.bin", Self.content))
    }

    @Test(
        "A connection that brought bytes and was lost is followed at once by a request for the rest",
        arguments: [FaultReply.Cut.close(after: 200_000), .reset(after: 200_000)], [1, 3])
    func retries(cut: FaultReply.Cut, connections: Int) async throws {
        let bench = try await SessionBench { _, asked in
            .reply(Self.reply.with { $0.cut = asked.number < 4 ? cut : nil })
        }
        let id = try await bench.add { $0.connections = .fixed(connections) }
        #expect(try await bench.ending(of: id).state == .completed)
        #expect(try bench.holds("file.bin", Self.content))
        // With several connections, another connection may have a part of the file and continue, so the numbers vary.
        guard connections == 1 else { return }
        #expect(bench.transport.taken.value == Self.content.size + 3 * Overlap.joined)
        #expect(bench.words(id) == ["add", "start 0", "complete"])
    }

    @Test("A busy server is asked again up to the limit of retries", arguments: [503, 429, 500, 408])
    func busy(status: Int) async throws {
        let bench = try await SessionBench { _, asked in
            .reply(asked.number < 4 ? FaultReply(status: status) : Self.reply)
        }
        let id = try await bench.add()
        #expect(try await bench.ending(of: id).state == .completed)
        #expect(bench.words(id) == ["add", "retry", "retry", "retry", "start 0", "complete"])

        let other = try await SessionBench { _, _ in .reply(FaultReply(status: status)) }
        let failed = try await other.add()
        let record = try await other.ending(of: failed)
        #expect(record.failure?.httpStatus == status, "\(record.state)")
        #expect(other.words(failed) == ["add", "retry", "retry", "retry", "fail"])
        #expect(other.transport.requests.count == 4)
        #expect(other.folder.names().isEmpty)
        #expect(record.session == nil)
    }

    @Test("A permanent failure is not retried", arguments: [401, 403, 404, 410])
    func permanent(status: Int) async throws {
        let bench = try await SessionBench { _, _ in .reply(FaultReply(status: status)) }
        let id = try await bench.add()
        #expect(try await bench.ending(of: id).failure?.httpStatus == status)
        #expect(bench.words(id) == ["add", "fail"])
    }

    @Test("Progress resets the count of failures")
    func progressForgets() async throws {
        let content = Content(seed: 3, size: 9_000_000)
        let bench = try await SessionBench { _, asked in
            // Each attempt brings bytes, and then a busy server ends it.
            .reply(
                asked.number % 2 == 0
                    ? FaultReply(status: 503)
                    : FaultReply(content, etag: "\"a\"").with { $0.cut = .close(after: 1_200_000) })
        }
        let id = try await bench.add { $0.retry.limit = 1 }
        #expect(try await bench.ending(of: id).state == .completed)
        #expect(bench.words(id).filter { $0 == "retry" }.count == 7)
    }

    @Test("A retry waits as long as Retry-After says, and a stop does not wait for it")
    func retryAfter() async throws {
        // The clock stands still, so a stop that waits for the retry would never return.
        let time = ManualTime()
        let bench = try await SessionBench(time: time) { _, _ in
            .reply(FaultReply(status: 503, fields: [("Retry-After", "100")]))
        }
        let id = try await bench.add()
        #expect(await bench.events.wait { $0.contains { $0.word == "retry" } })
        guard case .willRetry(let snapshot, _)? = bench.events.value.last,
            case .waiting(.retry, let until?) = snapshot.record.state
        else {
            Issue.record("not waiting: \(bench.words(id))")
            return
        }
        #expect(abs(until.timeIntervalSince(time.date) - 100) < 0.001)
        await bench.manager.pauseAll(.hangup)
        #expect(try await bench.ending(of: id).state == .paused(.hangup))
        #expect(bench.words(id) == ["add", "retry", "pause"])
    }

    @Test(
        "No download contacts a busy server before its Retry-After, but status 504 delays no other download",
        arguments: [429, 503, 504])
    func retryAfterForAll(status: Int) async throws {
        let bench = try await SessionBench(maxConcurrent: 1) { request, _ in
            request.url.path == "/busy"
                ? .reply(FaultReply(status: status, fields: [("Retry-After", "100")]))
                : .reply(FaultReply(Content("x")))
        }
        let requests = [
            try bench.request("/busy"), try bench.request("/same"), try bench.request(host: "other.example", "/other"),
        ]
        let ids = try await bench.manager.add(requests).map(\.record.id)
        #expect(try await bench.ending(of: ids[2]).state == .completed)
        if status == 504 {
            #expect(try await bench.ending(of: ids[1]).state == .completed)
        } else {
            #expect(try await bench.record(ids[1]).state == .queued)
            #expect(bench.transport.requests.map(\.url.path) == ["/busy", "/other"])
        }
        await bench.manager.pauseAll(.user)
    }

    @Test("After the server's Retry-After all its downloads continue")
    func retryAfterIsOver() async throws {
        let bench = try await SessionBench(maxConcurrent: 1) { _, asked in
            .reply(
                asked.number == 1
                    ? FaultReply(status: 503, fields: [("Retry-After", "1")]) : FaultReply(Content("x")))
        }
        let ids = try await bench.manager.add([try bench.request("/a"), try bench.request("/b")]).map(\.record.id)
        for id in ids { #expect(try await bench.ending(of: id).state == .completed) }
        #expect(bench.transport.requests.count == 3)
    }

    @Test("If the end of a body of unknown size was missed, the body is completed from its last bytes")
    func unknownSize() async throws {
        let reply = Self.reply.with { $0.framing = .chunked }
        let first = try await SessionBench { _, asked in
            .reply(
                reply.with {
                    $0.ranges = .ignored
                    $0.cut = .close(after: Self.content.size)
                })
        }
        let id = try await first.add { $0.retry.limit = 0 }
        #expect(try await first.ending(of: id).failure?.kind == "network")
        await first.manager.close()
        let second = try await SessionBench(after: first, session: "second", serving: Self.reply)
        _ = try await second.manager.resume([id], overrides: RequestOverrides())
        #expect(try await second.ending(of: id).state == .completed)
        #expect(second.words(id) == ["resume", "start \(Self.content.size - 65536)", "complete"])
        // The second session fetches the bytes that are doubtful after a cut between chunks, and as many bytes to
        // compare.
        #expect(second.transport.taken.value <= 128 << 10)
        #expect(try second.holds("file.bin", Self.content))
    }

    @Test("A lost or refused connection does not end the other connections", arguments: [true, false])
    func oneOfSeveral(isRefused: Bool) async throws {
        let content = Content(seed: 4, size: 30_000_000)
        let reply = FaultReply(content, etag: "\"a\"")
        let bench = try await SessionBench { _, asked in
            // The second connection stalls. Otherwise the whole file could arrive before the third connection begins.
            if asked.number == 2 { return .reply(reply.with { $0.cut = .stall(after: 1_000_000) }) }
            guard asked.number == 3 else { return .reply(reply) }
            return .reply(isRefused ? FaultReply(status: 503) : reply.with { $0.cut = .reset(after: 50_000) })
        }
        let id = try await bench.add { $0.connections = 3 }
        #expect(try await bench.ending(of: id).state == .completed)
        #expect(bench.words(id) == ["add", "start 0", "complete"])
        #expect(bench.transport.taken.value <= content.size + content.size / 20)
        #expect(try bench.holds("file.bin", content))
        #expect(await bench.freeBuffers() == BufferPool.standardCapacity)
    }

    @Test("Another connection fetches the part of a stalled connection", arguments: [1_000_000, 0] as [Int64])
    func standstill(after count: Int64) async throws {
        let content = Content(seed: 9, size: 30_000_000)
        let reply = FaultReply(content, etag: "\"a\"")
        let bench = try await SessionBench { _, asked in
            .reply(reply.with { $0.cut = asked.number == 2 ? .stall(after: count) : nil })
        }
        let id = try await bench.add { $0.connections = 2 }
        let record = try await bench.ending(of: id)
        #expect(record.state == .completed)
        #expect(record.completed?.bytes == content.size)
        #expect(try bench.holds("file.bin", content))
        #expect(bench.transport.taken.value <= content.size + content.size / 20)
        #expect(await bench.freeBuffers() == BufferPool.standardCapacity)
    }
}
