import DownloadTestSupport
import Foundation
import Synchronization
import Testing

@testable import DownloadCore

@Suite("A session without a network", .inTurn, .timeLimit(.minutes(1)))
struct OutageTests {
    static let content = Content(seed: 71, size: 3 << 20)
    static let lost = DownloadError.networkFailed(
        .connect, TransportDiagnosis(code: 7, message: "no", errno: ENETUNREACH))

    /// Returns a session whose transfers fail while there is no network.
    private func bench(
        _ network: FakeNetwork, time: any TimeSource = SystemTime()
    ) async throws -> SessionBench {
        try await SessionBench(network: network, time: time) { _, _ in
            network.reaches("198.51.100.7", from: nil) == true
                ? .reply(FaultReply(Self.content, etag: "\"v1\"")) : .failure(Self.lost)
        }
    }

    @Test("Waits without a retry, and goes on at the first news of a network", arguments: [true, false])
    func waits(tells: Bool) async throws {
        let network = FakeNetwork()
        network.set(up: false)
        // Without an event the session reads the tables every 5 s.
        let bench = try await bench(network, time: tells ? SystemTime() : ManualTime(leaps: true))
        let id = try await bench.add { $0.retry.limit = 1 }
        #expect(await bench.events.wait { $0.contains { $0.word == "retry" } })
        #expect(try await bench.record(id).state == .waiting(.network(Self.lost), until: nil))
        let begin = ContinuousClock.now
        network.set(up: true, tells: tells)
        #expect(try await bench.ending(of: id).state == .completed)
        if tells { #expect(ContinuousClock.now - begin < .seconds(4)) }
        #expect(bench.words(id).filter { $0 == "retry" }.count == 1)
    }

    @Test("Who wants no retries hears of it at once; nobody waits longer than --max-time")
    func refused() async throws {
        let network = FakeNetwork()
        network.set(up: false)
        let bench = try await bench(network)
        let once = try await bench.add("/a") { $0.retry.limit = 0 }
        let timed = try await bench.add("/b") { $0.timeouts.total = 0.3 }
        #expect(try await bench.ending(of: once).state == .failed(Self.lost))
        #expect(try await bench.ending(of: timed).state.error?.reason == "timeLimit")
    }

    @Test("What waits can be paused, cancelled and resumed")
    func wishes() async throws {
        let network = FakeNetwork()
        network.set(up: false)
        let bench = try await bench(network)
        let id = try await bench.add()
        #expect(await bench.events.wait { $0.contains { $0.word == "retry" } })
        _ = try await bench.manager.pause([id])
        #expect(try await bench.record(id).state == .paused(.user))
        network.set(up: true)
        _ = try await bench.manager.resume([id], overrides: RequestOverrides())
        #expect(try await bench.ending(of: id, times: 2).state == .completed)
    }

    @Test("After sleep every connection is left, which costs no retry")
    func slept() async throws {
        let network = FakeNetwork()
        let changed = DownloadError.networkFailed(
            .networkChanged, TransportDiagnosis(code: 0, message: "this machine slept"))
        let bench = try await SessionBench(network: network) { _, request in
            request.number <= 3 ? .failure(changed) : .reply(FaultReply(Self.content, etag: "\"v1\""))
        }
        let id = try await bench.add { $0.retry = RetryPolicy(limit: 1, delay: 30) }
        #expect(try await bench.ending(of: id).state == .completed)
    }

    @Test("The transport is told which addresses are left, and of sleep")
    func told() async throws {
        let network = FakeNetwork()
        let bench = try await SessionBench(network: network) { _, _ in
            .reply(FaultReply(Self.content, etag: "\"v1\"").with { $0.cut = .stall(after: 1 << 20) })
        }
        _ = try await bench.add()
        #expect(await bench.transport.waitForRequests(1))
        #expect(bench.transport.left.value.isEmpty)
        network.set(up: true)
        #expect(await bench.transport.left.wait { $0 == [["10.0.0.2"]] })
        network.suspend(for: .seconds(60))
        #expect(await bench.transport.left.wait { $0.last == [] })
    }
}
