import CurlTransport
import DownloadCore
import DownloadTestSupport
import Synchronization
import Testing

@Suite("Copies under the rate limits of transfers", .inTurn, .timeLimit(.minutes(1)))
struct LimitedCopyTests {
    /// Asks for bytes as a copy does, until `count` bytes are allowed.
    private func copy(_ count: Int, _ allowance: any RateAllowance, _ moved: Observed<Int>) async {
        var left = count
        while left > 0 {
            let part = allowance.take(min(left, 50_000))
            left -= part
            moved.update { $0 += part }
            if part == 0 { await Task.yield() }
        }
    }

    @Test("Two copies and a transfer together stay within their common limit, and all of them end")
    func together() async throws {
        let content = Content(seed: 1, size: 300_000)
        let server = try FaultServer.serving(content)
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
        // A limit saves up the bytes of a tenth of a second at most.
        #expect(Double(moved.value + 300_000) <= Double(rate) * (elapsed + 0.2))
        #expect(sink.record.value.bytes == content.bytes(0..<300_000))
    }

    @Test("Without a rate everything is allowed; unused bytes are not lost; a lifted limit lets a copy continue")
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
