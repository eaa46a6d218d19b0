import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore
@testable import DownloadEngine

/// Downloads through networks with laws of their own, compared with the best fixed number of connections.
@Suite("The number of connections on networks with laws", .inTurn, .serialized)
struct NetworkLawTests {
    private static let mebibyte = Double(1 << 20)

    struct Law: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The least fraction of the best fixed number's speed, for each seed.
        let least: Double
        /// The greatest time, as a multiple of the time with one connection.
        var most = 1.5
        let change: @Sendable (inout SimulatedServer, _ draw: @Sendable (ClosedRange<Double>) -> Double) -> Void
    }

    private static let laws: [Law] = [
        Law(testDescription: "a limit for each connection and for all", least: 0.84) { server, draw in
            server.line = server.speed * draw(1.5...8)
        },
        Law(testDescription: "one connection fills the line", least: 0.95) { server, _ in server.line = server.speed },
        Law(testDescription: "the limits fall", least: 0.7) { server, draw in
            server.line = server.speed * draw(3...6)
            server.change = (draw(1...4), draw(0.25...0.6))
        },
        Law(testDescription: "the limits rise", least: 0.8) { server, draw in
            server.line = server.speed * draw(3...8)
            server.change = (draw(2...6), draw(1.5...4))
        },
        Law(testDescription: "speeds by lot", least: 0.75) { server, _ in
            server.lots = 0.3 * mebibyte...4 * mebibyte
        },
        Law(testDescription: "each third connection falls silent", least: 0.75) { server, draw in
            server.silence = (3, Int64(draw(1...3) * mebibyte))
        },
        Law(testDescription: "connections break after 1 to 6 MiB", least: 0.8) { server, _ in
            server.breaks = 1 << 20...6 << 20
        },
        Law(testDescription: "throttled above a number of bytes and of connections", least: 0.45) { server, draw in
            server.quota = (3, draw(4...10) * mebibyte, 4, 0.1)
        },
        Law(testDescription: "more connections are refused", least: 0.9) { server, draw in
            server.limit = Int(draw(1...4.99))
        },
        Law(testDescription: "more connections are never answered", least: 0.8) { server, draw in
            server.limit = Int(draw(1...4.99))
            server.refusal = .silence
        },
        Law(testDescription: "one of three addresses is slow", least: 0.72) { server, draw in
            server.line = server.speed * draw(6...8)
            server.addresses = [1, 1, 1]
            server.addresses[Int(draw(0...2.99))] = 0.05
        },
        // The penalty of 4 to 8 s for trying is the server's. It is paid once.
        Law(testDescription: "all are throttled for seconds if there are too many", least: 0.3) { server, draw in
            server.collapse = (Int(draw(2...5.99)), 0.05, draw(4...8))
        },
        // A number that is throttled a little later seems to pay at first, so the penalty is paid several times.
        Law(testDescription: "all are throttled a little after there were too many", least: 0.15, most: 2.6) {
            server, draw in
            server.collapse = (Int(draw(2...5.99)), 0.05, draw(4...8))
            server.collapseDelay = draw(0.1...1)
        },
    ]

    private func server(_ law: Law, seed: UInt64) -> SimulatedServer {
        let drawn = Observed<UInt64>(0)
        let draw: @Sendable (ClosedRange<Double>) -> Double = { range in
            let number = drawn.update { value in
                value += 1
                return value
            }
            var random = SplitMix64(seed: seed &* 31 &+ number &* 7907)
            for _ in 0..<4 { _ = random.next() }
            return Double.random(in: range, using: &random)
        }
        var server = SimulatedServer()
        server.seed = seed
        server.sigma = 0
        server.roundTrip = 0.001
        server.speed = draw(1...3) * Self.mebibyte
        law.change(&server, draw)
        return server
    }

    @Test(
        "An automatic number is nearly as good as the best fixed one, and ends where one connection does",
        arguments: laws)
    func automatic(law: Law) {
        for seed in 1...20 as ClosedRange<UInt64> {
            let server = server(law, seed: seed)
            let size: Int64 = 48 << 20
            let fixed = [1, 2, 4, 6].map { SimulatedDownload.run(server, size: size, wish: $0, step: 0.02).time }
            let found = SimulatedDownload.run(server, size: size, wish: nil, step: 0.02)
            #expect(found.complaints.isEmpty, "seed \(seed)")
            #expect(found.undeclared == 0, "seed \(seed)")
            #expect((fixed.min() ?? 0) / found.time >= law.least, "seed \(seed): \(fixed), automatic \(found.time)")
            #expect(found.time <= law.most * (fixed.first ?? 0), "seed \(seed): worse than one connection")
        }
    }

    @Test(
        "With slow or dead addresses, a download takes at most 2 s and a tenth longer than with the fastest address alone",
        arguments: [
            [0.05, 1, 1], [1, 0.05, 1], [1, 0.05, 0.05], [0.05, 0, 1], [1, 0, 0], [0.5, 1, 0.25], [1, 1, 1],
        ],
        [1, 2, 4, 6, nil])
    func addresses(speeds: [Double], wish: Int?) {
        let law = Law(testDescription: "addresses", least: 0) { server, draw in
            server.line = server.speed * draw(6...8)
            server.delay = draw(0...0.04)
        }
        for seed in 1...10 as ClosedRange<UInt64> {
            var server = server(law, seed: seed)
            let best = SimulatedDownload.run(server, size: 48 << 20, wish: wish, step: 0.02)
            server.addresses = speeds
            let found = SimulatedDownload.run(server, size: 48 << 20, wish: wish, step: 0.02)
            #expect(found.complaints.isEmpty && found.undeclared == 0, "seed \(seed): \(found.complaints)")
            #expect(found.time <= 1.1 * best.time + 2, "seed \(seed): \(found.time), the fastest address \(best.time)")
            #expect(speeds[0] > 0.1 || found.opened.count > 1, "seed \(seed): \(found.opened)")
        }
    }

    @Test("After a collapse the number that caused it is not tried again")
    func collapse() {
        for seed in 1...20 as ClosedRange<UInt64> {
            var server = SimulatedServer()
            server.seed = seed
            server.sigma = 0
            server.roundTrip = 0.001
            server.speed = 2 * Self.mebibyte
            server.collapse = (4, 0.05, 8)
            let found = SimulatedDownload.run(server, size: 200 << 20, wish: nil, step: 0.02)
            #expect(found.complaints.isEmpty)
            #expect(found.seconds[6, default: 0] < 3)
            #expect(found.knowledge?.cap == 4)
        }
    }
}
