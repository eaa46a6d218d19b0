import CurlTransport
import DownloadCore
import DownloadTestSupport
import Foundation
import Synchronization
import Testing

/// Rate limits on the real engines. Benchmarks measure how exact the limits are. These tests only check that a limit
/// holds.
@Suite("CurlTransport: rate limits", .inTurn, .timeLimit(.minutes(1)))
struct RateLimitTests {
    private let bench: TransportBench

    init() throws { bench = try TransportBench() }

    private static let content = Content(seed: 1, size: 300_000)

    /// The least time in which `bytes` may arrive under the rate, with a margin of a fifth.
    private func least(_ bytes: Int, _ rate: Int64) -> Duration { .seconds(0.8 * Double(bytes - 16384) / Double(rate)) }

    @Test("A limit holds for the sum of its transfers on all engines, and the bytes are right", arguments: [1, 3])
    func holds(engines: Int) async throws {
        let server = try FaultServer.serving(Self.content)
        let bench = try TransportBench(engines: engines)
        let limit = RateLimit(2_000_000)
        let begun = ContinuousClock.now
        let sinks = try (0..<6).map { number in
            let sink = CollectingSink(.init(pausesEvery: number.isMultiple(of: 2) ? 4 : nil))
            _ = try bench.start(server.url(), sink) { $0.rateLimits = [RateLimit(), limit] }
            return sink
        }
        for sink in sinks {
            #expect(await sink.ending() == .complete)
            #expect(sink.record.value.bytes == Self.content.bytes(0..<300_000))
        }
        #expect(ContinuousClock.now - begun >= least(1_800_000, 2_000_000))
    }

    @Test("The lower of two limits holds for its transfer, and the rest of the higher one goes to the others")
    func twoLimits() async throws {
        let server = try FaultServer.serving(Self.content)
        let session = RateLimit(1_000_000)
        let slow = CollectingSink()
        _ = try bench.start(server.url(), slow) { $0.rateLimits = [session, RateLimit(200_000)] }
        let fast = CollectingSink()
        _ = try bench.start(server.url(), fast) { $0.rateLimits = [session, RateLimit()] }
        #expect(await fast.ending() == .complete)
        #expect(await slow.ending() == .complete)
        let times = [fast, slow].map { Duration.seconds($0.record.value.results.first?.metrics.total ?? 0) }
        #expect(times[0] >= least(300_000, 1_000_000))
        #expect(times[1] >= least(300_000, 200_000))
        #expect(times[0] < times[1])
    }

    @Test(
        "The end of a body under a limit is found, whatever its framing",
        arguments: [FaultReply.Framing.contentLength, .chunked, .closeDelimited], [1, 16384, 100_001] as [Int64])
    func framing(framing: FaultReply.Framing, size: Int64) async throws {
        let content = Content(seed: 1, size: size)
        let server = try FaultServer { _ in FaultReply(content).with { $0.framing = framing } }
        let record = try await bench.run(server.url()) { $0.rateLimits = [RateLimit(400_000)] }
        #expect(record.ending == .complete)
        #expect(record.bytes == content.bytes(0..<size))
    }

    @Test("Short transfers one after the other are limited like a long one")
    func shortOnes() async throws {
        let content = Content(seed: 1, size: 15_000)
        let server = try FaultServer.serving(content)
        let limit = RateLimit(200_000)
        let begun = ContinuousClock.now
        for _ in 0..<10 { #expect(try await bench.run(server.url()) { $0.rateLimits = [limit] }.ending == .complete) }
        #expect(ContinuousClock.now - begun >= least(150_000, 200_000))
    }

    @Test("Under a rate far too low for 24 connections, all of them progress together", arguments: [1, 2])
    func allGoOn(engines: Int) async throws {
        let content = Content(seed: 1, size: 12_000)
        let server = try FaultServer.serving(content)
        let bench = try TransportBench(engines: engines)
        let limit = RateLimit(1)
        let sinks = try (0..<24).map { _ in
            let sink = CollectingSink()
            _ = try bench.start(server.url(), sink) { $0.rateLimits = [limit, RateLimit()] }
            return sink
        }
        for sink in sinks { #expect(await sink.record.wait { !$0.heads.isEmpty }) }
        limit.bytesPerSecond = 100_000
        #expect(await sinks[7].ending() == .complete)
        // If whole pieces came one connection after the other, most connections would have nothing yet.
        #expect(sinks.allSatisfy { $0.record.value.count > 6000 })
        for sink in sinks {
            #expect(await sink.ending() == .complete)
            #expect(sink.record.value.bytes == content.bytes(0..<12_000))
        }
    }

    @Test("If a short transfer does not use its whole share, the rest goes to the next transfer")
    func unusedShares() async throws {
        let server = try FaultServer.serving(Content("x"))
        let limit = RateLimit(2_000)
        let begun = ContinuousClock.now
        var ended: [any Transfer] = []
        for _ in 0..<20 {
            let sink = CollectingSink()
            ended.append(try bench.start(server.url(), sink) { $0.rateLimits = [limit] })
            #expect(await sink.ending() == .complete)
        }
        // Twenty full shares of 16 KiB would take more than two minutes.
        #expect(ContinuousClock.now - begun < .seconds(60))
    }

    @Test("A piece that the sink puts off several times counts only once against the limit")
    func putOff() async throws {
        let server = try FaultServer.serving(Content(seed: 1, size: 100_000))
        let sink = ReluctantSink()
        var request = TransferRequest(url: try SourceURL.parse(server.url()).get().url)
        request.rateLimits = [RateLimit(30_000)]
        let begun = ContinuousClock.now
        sink.resumes(bench.transport.start(request, sink: sink))
        #expect(await sink.ended.wait { $0 == .complete })
        // The bytes alone take three seconds. If they were counted at each offer, they would take thirty.
        #expect(ContinuousClock.now - begun < .seconds(25))
    }

    @Test("A limit that is set during a transfer holds from then on")
    func setLater() async throws {
        var script = RawServer.Script([UInt8](repeating: 88, count: 1 << 16))
        script.reply = Array("HTTP/1.1 200 OK\r\n\r\n".utf8) + script.reply
        script.isEndless = true
        let server = try RawServer(script)
        let limit = RateLimit()
        let sink = CollectingSink(.init(forgets: true))
        let transfer = try bench.start(server.url, sink) { $0.rateLimits = [limit] }
        #expect(await sink.record.wait { $0.count > 10_000_000 })
        limit.bytesPerSecond = 500_000
        let begun = ContinuousClock.now
        let before = sink.record.value.count
        #expect(await sink.record.wait { $0.count > before + 400_000 })
        #expect(ContinuousClock.now - begun >= least(400_000, 500_000))
        limit.bytesPerSecond = 50_000_000
        // Under the first limit, this many bytes would take longer than the test waits.
        #expect(await sink.record.wait { $0.count > before + 40_000_000 })
        transfer.cancel()
        #expect(await sink.ending() == .cancelled)
    }

    @Test("A transfer that waits for a limit is not stalled, and continues when the limit is lifted")
    func lifted() async throws {
        let server = try FaultServer.serving(Self.content)
        let limit = RateLimit(1)
        let sinks = try (0..<4).map { _ in
            let sink = CollectingSink()
            _ = try bench.start(server.url(), sink) {
                $0.rateLimits = [limit]
                $0.options.stallTimeout = 0.2
            }
            return sink
        }
        for sink in sinks { #expect(await sink.record.wait { !$0.heads.isEmpty }) }
        #expect(await !sinks[0].record.wait(atMost: .milliseconds(700)) { !$0.results.isEmpty })
        #expect(sinks.allSatisfy { $0.record.value.results.isEmpty })
        limit.bytesPerSecond = nil
        let begun = ContinuousClock.now
        for sink in sinks { #expect(await sink.ending() == .complete) }
        #expect(ContinuousClock.now - begun < .seconds(9))
        #expect(sinks.allSatisfy { $0.record.value.bytes == Self.content.bytes(0..<300_000) })
    }

    @Test("A server that stalls under a limit is noticed")
    func stalled() async throws {
        let server = try FaultServer { _ in FaultReply(Self.content).with { $0.cut = .stall(after: 200_000) } }
        let record = try await bench.run(server.url()) {
            $0.rateLimits = [RateLimit(500_000)]
            $0.options.stallTimeout = 0.5
        }
        guard case .failed(.networkFailed(.stalled, _))? = record.ending else {
            Issue.record("ended as \(String(describing: record.ending))")
            return
        }
        #expect(record.bytes == Self.content.bytes(0..<200_000))
    }

    @Test("A transfer that waits for a limit can be cancelled, and the other transfers continue")
    func cancel() async throws {
        let server = try FaultServer.serving(Self.content)
        let bench = try TransportBench(engines: 2)
        let limit = RateLimit(1)
        let sinks = (0..<4).map { _ in CollectingSink() }
        let transfers = try sinks.map { sink in try bench.start(server.url(), sink) { $0.rateLimits = [limit] } }
        for sink in sinks { #expect(await sink.record.wait { !$0.heads.isEmpty }) }
        for index in 0..<3 {
            transfers[index].resume()
            transfers[index].cancel()
            #expect(await sinks[index].ending() == .cancelled)
        }
        limit.bytesPerSecond = 10_000_000
        #expect(await sinks[3].ending() == .complete)
    }

    @Test("If the sink refuses a piece that the limit had delayed, the transfer ends")
    func refused() async throws {
        let server = try FaultServer.serving(Self.content)
        let record = try await bench.run(server.url(), .init(refusesAt: 100_000)) {
            $0.rateLimits = [RateLimit(500_000)]
        }
        #expect(record.ending == .refused)
    }

    @Test("A shutdown cancels transfers that wait for a limit")
    func shutdown() async throws {
        let server = try FaultServer.serving(Self.content)
        let limit = RateLimit(1)
        let sinks = try (0..<4).map { _ in
            let sink = CollectingSink()
            _ = try bench.start(server.url(), sink) { $0.rateLimits = [limit] }
            return sink
        }
        for sink in sinks { #expect(await sink.record.wait { !$0.heads.isEmpty }) }
        bench.transport.shutdown()
        for sink in sinks { #expect(sink.record.value.results.map(\.ending) == [.cancelled]) }
    }
}

/// A sink that takes each piece only when it is offered for the tenth time.
private final class ReluctantSink: TransferSink {
    let ended = Observed<TransferResult.Ending?>(nil)
    private let state = Mutex<(transfer: (any Transfer)?, offers: Int, owedResume: Bool)>((nil, 0, false))

    func resumes(_ transfer: any Transfer) {
        let isOwed = state.withLock { state in
            state.transfer = transfer
            return state.owedResume
        }
        if isOwed { transfer.resume() }
    }

    func transferDidReceiveHead(_ head: ResponseHead) -> HeadDisposition { .accept }

    func transferDidReceive(_ bytes: UnsafeRawBufferPointer) -> BodyDisposition {
        let (isTenth, transfer) = state.withLock { state in
            state.offers += 1
            state.owedResume = state.transfer == nil
            return (state.offers.isMultiple(of: 10), state.transfer)
        }
        if isTenth { return .taken }
        // The engine is inside this call, so it resumes the transfer after this call has returned.
        transfer?.resume()
        return .pause
    }

    func transferDidFinish(_ result: TransferResult) { ended.update { $0 = result.ending } }
}
