import DownloadSystem
import DownloadTestSupport
import Foundation
import Synchronization
import Testing

@testable import DownloadCore
@testable import DownloadEngine

@Suite("SessionManager: without a network", .inTurn, .timeLimit(.minutes(1)))
struct OutageTests {
    static let content = Content(seed: 71, size: 3 << 20)
    static let lost = DownloadError.networkFailed(
        .connect, TransportDiagnosis(code: 7, message: "no", errno: ENETUNREACH))

    /// Returns a session whose transfers fail as long as the network is gone.
    private func bench(
        _ network: FakeNetwork, time: any TimeSource = SystemTime()
    ) async throws -> SessionBench {
        try await SessionBench(network: network, time: time) { _, _ in
            network.reaches("198.51.100.7", from: nil) == true
                ? .reply(FaultReply(Self.content, etag: "\"v1\"")) : .failure(Self.lost)
        }
    }

    @Test(
        "A wait for the network uses no retry, and ends when the session notices that the network is back",
        arguments: [true, false])
    func waits(tells: Bool) async throws {
        let network = FakeNetwork()
        network.set(up: false)
        // The session asks every 0.5 s whether the network has changed. If nothing changes, it checks the network every
        // 5 s.
        let time = ManualTime(leaps: !tells)
        let bench = try await bench(network, time: time)
        let id = try await bench.add { $0.retry.limit = 1 }
        #expect(await bench.events.wait { $0.contains { $0.word == "retry" } })
        #expect(try await bench.record(id).state == .waiting(.network(Self.lost), until: nil))
        network.set(up: true, tells: tells)
        for _ in 0..<9 where tells && bench.ends.value.isEmpty {
            time.advance(by: .milliseconds(500))
            _ = await bench.ends.wait(atMost: .seconds(1)) { !$0.isEmpty }
        }
        #expect(try await bench.ending(of: id).state == .completed)
        #expect(bench.words(id).filter { $0 == "retry" }.count == 1)
    }

    @Test("Without retries a download fails at once, and no download waits longer than its time limit")
    func refused() async throws {
        let network = FakeNetwork()
        network.set(up: false)
        let bench = try await bench(network)
        let once = try await bench.add("/a") { $0.retry.limit = 0 }
        let timed = try await bench.add("/b") { $0.timeouts.total = .seconds(0.3) }
        #expect(try await bench.ending(of: once).state == .failed(Self.lost))
        #expect(try await bench.ending(of: timed).state.error?.reason == "timeLimit")
    }

    @Test("A download that waits for the network can be paused and resumed, or cancelled")
    func wishes() async throws {
        let network = FakeNetwork()
        network.set(up: false)
        let bench = try await bench(network)
        let id = try await bench.add()
        let other = try await bench.add("/other")
        #expect(await bench.events.wait { $0.count { $0.word == "retry" } == 2 })
        _ = try await bench.manager.pause([id])
        #expect(try await bench.record(id).state == .paused(.user))
        _ = try await bench.manager.cancel([other])
        #expect(try await bench.record(other).state == .cancelled)
        network.set(up: true)
        _ = try await bench.manager.resume([id], overrides: RequestOverrides())
        #expect(try await bench.ending(of: id, times: 2).state == .completed)
        #expect(bench.words(other) == ["add", "retry", "cancel"])
        #expect(bench.transport.requests.count { $0.url.path == "/other" } == 1)
    }

    @Test("After sleep, the loss of every connection costs no retry")
    func slept() async throws {
        let network = FakeNetwork()
        let changed = DownloadError.networkFailed(
            .networkChanged, TransportDiagnosis(code: 0, message: "this machine slept"))
        let bench = try await SessionBench(network: network) { _, request in
            request.number <= 3 ? .failure(changed) : .reply(FaultReply(Self.content, etag: "\"v1\""))
        }
        let id = try await bench.add { $0.retry = RetryPolicy(limit: 1, delay: .seconds(30)) }
        #expect(try await bench.ending(of: id).state == .completed)
    }

    @Test("The transport gets the usable addresses after a change, and none after sleep")
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
