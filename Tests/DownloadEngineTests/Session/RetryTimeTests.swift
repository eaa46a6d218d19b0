import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore
@testable import DownloadEngine

@Suite("SessionManager: waits between two attempts", .inTurn, .timeLimit(.minutes(1)))
struct RetryTimeTests {
    static let reply = FaultReply(Content(seed: 73, size: 1 << 20), etag: "\"v1\"")

    private static func busy(_ seconds: Int) -> FaultReply {
        FaultReply(status: 503, fields: [("Retry-After", "\(seconds)")])
    }

    @Test("The time limit ends an attempt that receives no more bytes")
    func deadline() async throws {
        let time = ManualTime()
        let bench = try await SessionBench(time: time) { _, _ in
            .reply(Self.reply.with { $0.cut = .stall(after: 1 << 19) })
        }
        let id = try await bench.add {
            $0.timeouts.total = .seconds(1800)
            $0.connections = 1
        }
        #expect(await bench.transport.taken.wait { $0 >= 1 << 19 })
        time.advance(by: .seconds(1799))
        #expect(try await bench.record(id).state.kind.isActive)
        time.advance(by: .seconds(2))
        #expect(try await bench.ending(of: id).state.error?.reason == "timeLimit")
        #expect(try await bench.record(id).received == 1 << 19)
    }
}
