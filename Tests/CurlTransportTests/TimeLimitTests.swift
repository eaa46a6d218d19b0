import CurlTransport
import DownloadCore
import DownloadTestSupport
import Foundation
import Testing

/// Time limits in a request, which the control API and the store allow to be of any size.
@Suite("Time limits of any size", .inTurn, .timeLimit(.minutes(1)))
struct TimeLimitTests {
    @Test(
        "A transfer runs with a huge or infinite time limit, and a very short limit ends a connection attempt",
        arguments: [1e-9, 15, 1e10, 1e18, 1e300, .infinity])
    func limits(_ seconds: Double) async throws {
        let server = try FaultServer.serving(Content(seed: 1, size: 100_000))
        let bench = try TransportBench()
        let record = try await bench.run(server.url()) { request in
            // The transfer itself gets at least 15 seconds, because the shortest limit is too short for a connection.
            request.options.connectTimeout = max(seconds, 15)
            request.options.stallTimeout = max(seconds, 15)
        }
        #expect(record.ending == .complete && record.count == 100_000)
        if seconds < 1 {
            // The backlog is full, so the kernel drops further attempts to connect.
            let (descriptor, port) = try LoopbackSocket.listen(backlog: 0)
            defer { close(descriptor) }
            for _ in 0..<4 { _ = try bench.start("http://127.0.0.1:\(port)/", CollectingSink()) }
            #expect(try await failure(bench, port) { $0.options.connectTimeout = seconds } == .timedOut)
        } else {
            let port = try LoopbackSocket.unusedPort()
            #expect(try await failure(bench, port) { $0.options.connectTimeout = seconds } == .connect)
        }
    }

    private func failure(
        _ bench: borrowing TransportBench, _ port: Int, _ change: (inout TransferRequest) -> Void
    ) async throws -> NetworkFailure? {
        guard
            case .failed(.networkFailed(let failure, _))? = try await bench.run(
                "http://127.0.0.1:\(port)/", .init(), change
            ).ending
        else { return nil }
        return failure
    }
}
