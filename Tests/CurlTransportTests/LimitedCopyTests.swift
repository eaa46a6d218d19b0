import CurlTransport
import DownloadCore
import DownloadTestSupport
import Synchronization
import Testing

@Suite("Copies under the limits of transfers", .inTurn, .timeLimit(.minutes(1)))
struct LimitedCopyTests {
    /// Takes bytes from the allowance as a copy does, until it has this number of bytes.
    private func copy(_ count: Int, _ allowance: any RateAllowance, _ moved: Observed<Int>) async {
        var left = count
        while left > 0 {
            let part = allowance.take(min(left, 50_000))
            left -= part
            moved.update { $0 += part }
            if part == 0 { await Task.yield() }
        }
    }

    @Test("Two copies and a transfer have no more together than their limit allows, and each gets some")
    func together() async throws {
        let content = Content(seed: 1, size: 300_000)
        let server = try FaultServer.serving(content)
        defer { server.stop() }
        let bench = try TransportBench(engines: 1)
        let rate: Int64 = 1_000_000
        let session = RateLimit(rate)
        let moved = Observed(0)
        let begun = ContinuousClock.now
        let sink = CollectingSink()
        _ = try bench.start(server.url(), sink) { $0.rateLimits = [session, RateLimit()] }
        let transport = bench.transport
        let allowances = (0..<2).map { _ in transport.allowance(under: [session, RateLimit()]) }
        await withTaskGroup(of: Void.self) { group in
            for allowance in allowances { group.addTask { await copy(300_000, allowance, moved) } }
        }
        #expect(await sink.ending() == .complete)
        let elapsed = (ContinuousClock.now - begun) / .seconds(1)
        // A limit saves at most the bytes of a tenth of a second.
        #expect(Double(moved.value + 300_000) <= Double(rate) * (elapsed + 0.2))
        #expect(sink.record.value.bytes == content.bytes(0..<300_000))
    }

    @Test("Without a limit all is allowed; what is not used is not lost; a limit that is lifted holds nobody")
    func lifted() async throws {
        let bench = try TransportBench()
        let limit = RateLimit()
        let allowance = bench.transport.allowance(under: [limit, RateLimit()])
        #expect(allowance.take(1 << 30) == 1 << 30)
        limit.bytesPerSecond = 1
        #expect(allowance.take(1 << 20) == 0)
        #expect(allowance.take(1 << 20) == 0)
        limit.bytesPerSecond = nil
        #expect(allowance.take(1 << 20) == 1 << 20)
        allowance.giveBack(1 << 20)
        #expect(allowance.take(1 << 20) == 1 << 20)
    }
}
