import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore
@testable import DownloadEngine

@Suite("SegmentPlanner against simulated servers", .inTurn, .serialized)
struct SegmentPlannerSimulationTests {
    private static let megabyte: Int64 = 1_000_000

    struct Trial: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var megabytes: Int64 = 500
        var wish: Int? = 8
        /// The number of connections of the ideal download, which are never idle.
        var connections = 8
        /// The least fraction of the ideal speed, on average over all seeds.
        let least: Double
        var seeds: UInt64 = 20
        let change: @Sendable (inout SimulatedServer) -> Void
    }

    /// Limits each connection to a steady 8 MiB/s, with the short round trip of the loopback interface.
    private static func throttle(_ server: inout SimulatedServer) {
        server.speed = Double(8 << 20)
        server.sigma = 0
        server.roundTrip = 0.0005
    }

    private static let trials: [Trial] = [
        Trial(testDescription: "500 MB, uneven speeds that change", least: 0.96) { _ in },
        Trial(testDescription: "50 MB", megabytes: 50, least: 0.8) { _ in },
        Trial(testDescription: "500 MB, a tenth of the time stalled", least: 0.95) { $0.stalls = 0.1 },
        Trial(testDescription: "50 MB, stalls", megabytes: 50, least: 0.83) { $0.stalls = 0.1 },
        Trial(testDescription: "every 3 s another speed, or none at all", megabytes: 268, least: 0.88) {
            $0.speed = Double(3 << 20)
            $0.sigma = 0.8
            $0.period = 3
            $0.stalls = 1 / 7
        },
        Trial(testDescription: "answers take up to three seconds", megabytes: 268, least: 0.69) { $0.hesitation = 3 },
        Trial(testDescription: "very uneven", least: 0.92) { $0.sigma = 1 },
        Trial(testDescription: "connections break", least: 0.94) { $0.losses = 0.05 },
        Trial(testDescription: "the server allows five connections", least: 0.92) { $0.limit = 5 },
        Trial(testDescription: "a round trip of 0.3 s", least: 0.9) { $0.roundTrip = 0.3 },
        Trial(testDescription: "bursts and pieces", least: 0.9) {
            $0.burst = 1 << 20
            $0.piece = 1 << 18
        },
        Trial(testDescription: "268 MB over lanes from 0.5 to 14 MiB/s", megabytes: 268, least: 0.9) { server in
            server.lanes = [3, 0.5, 14, 1, 6, 2, 1.5, 4].map { $0 * 1_048_576 }
        },
        Trial(testDescription: "one connection", megabytes: 50, wish: 1, connections: 1, least: 0.95) { _ in },
        Trial(testDescription: "auto, one shared line", megabytes: 100, wish: nil, connections: 16, least: 0.85) {
            $0.line = 5_000_000
        },
        Trial(testDescription: "auto, uneven", wish: nil, connections: 16, least: 0.85) { _ in },
        Trial(testDescription: "auto, stalls and breaks", wish: nil, connections: 16, least: 0.75) {
            $0.stalls = 0.1
            $0.losses = 0.02
        },
    ]

    @Test(
        "Downloads are nearly as fast as the ideal, fetch less than 1 % twice, and keep the limit of connections",
        arguments: trials)
    func near(trial: Trial) {
        var sum = 0.0
        for seed in 1...trial.seeds {
            var server = SimulatedServer()
            server.seed = seed
            trial.change(&server)
            let size = trial.megabytes * Self.megabyte
            let download = SimulatedDownload.run(
                server, size: size, wish: trial.wish, automaticLimit: trial.connections, step: 0.02)
            #expect(download.complaints.isEmpty, "seed \(seed)")
            #expect(download.undeclared == 0, "seed \(seed)")
            #expect(download.repeated < size / 100, "seed \(seed)")
            sum += server.ideal(size: size, connections: trial.connections) / download.time
        }
        let mean = sum / Double(trial.seeds)
        #expect(mean >= trial.least)
    }

    @Test(
        "At 8 MiB/s a connection, 16 connections are used if requested; without a request the planner finds 16",
        arguments: [false, true])
    func throttled(inPieces: Bool) {
        var server = SimulatedServer()
        Self.throttle(&server)
        if inPieces {
            server.burst = 2 << 20
            server.piece = 2 << 20
        }
        let size: Int64 = 256 << 20
        let ideal = server.ideal(size: size, connections: 16)
        let asked = SimulatedDownload.run(server, size: size, wish: 16, step: 0.002)
        #expect(ideal / asked.time >= 0.98)
        let found = SimulatedDownload.run(server, size: size, wish: nil, automaticLimit: 16, step: 0.002)
        // Whole pieces take a quarter of a second each, so the connections end less evenly.
        #expect(ideal / found.time >= (inPieces ? 0.75 : 0.8))
        #expect(found.mostConnections == 16)
        #expect(found.knowledge?.best == 16)
        // The connections are not opened all at once. An unknown number is tried in steps.
        #expect(zip(found.steps, found.steps.dropFirst()).allSatisfy { $1.at - $0.at >= 0.2 })
        let known = SimulatedDownload.run(
            server, size: size, wish: nil, automaticLimit: 16, knowledge: found.knowledge, step: 0.002)
        #expect(known.time < found.time)
        #expect(known.complaints.isEmpty)
    }

    @Test("An automatic download has six connections at most, even if more would be faster")
    func polite() {
        var server = SimulatedServer()
        Self.throttle(&server)
        let size: Int64 = 256 << 20
        let found = SimulatedDownload.run(server, size: size, wish: nil, step: 0.002)
        #expect(found.complaints.isEmpty)
        #expect(found.mostConnections == 6)
        #expect(found.knowledge?.best == 6)
        #expect(server.ideal(size: size, connections: 6) / found.time >= 0.9)
        // The host profile of an earlier download with a higher limit does not permit more connections.
        let knowledge = HostKnowledge(best: 16, cap: nil, learned: .distantPast)
        let known = SimulatedDownload.run(server, size: size, wish: nil, knowledge: knowledge, step: 0.002)
        #expect(known.mostConnections == 6)
    }

    @Test(
        "If every first byte takes 8 s, each requested connection sends at most one request after the first request",
        arguments: [4, 16, nil])
    func slowFirstByte(wish: Int?) {
        var server = SimulatedServer()
        server.speed = Double(100 << 20)
        server.sigma = 0
        server.roundTrip = 0.0005
        server.delay = 8
        let download = SimulatedDownload.run(server, size: 20 << 20, wish: wish)
        #expect(download.complaints.isEmpty)
        #expect(download.time < (wish == nil ? 10 : 18))
        #expect(download.requests <= (wish ?? 0) + 1)
    }

    @Test("A refused number of connections is remembered, and not requested again")
    func refused() {
        var server = SimulatedServer()
        Self.throttle(&server)
        server.limit = 5
        let download = SimulatedDownload.run(server, size: 256 << 20, wish: nil, step: 0.002)
        #expect(download.complaints.isEmpty)
        #expect(download.refusals == 1)
        #expect(download.knowledge?.cap == 5)
        let known = SimulatedDownload.run(
            server, size: 256 << 20, wish: nil, knowledge: download.knowledge, step: 0.002)
        #expect(known.refusals == 0)
        #expect(known.mostConnections == 5)
    }

    @Test("If one connection fills the line, four connections are tried, and one is remembered as best")
    func sharedLine() {
        var server = SimulatedServer()
        Self.throttle(&server)
        server.line = server.speed
        let download = SimulatedDownload.run(server, size: 256 << 20, wish: nil, step: 0.01)
        #expect(download.complaints.isEmpty)
        #expect(download.mostConnections == 4)
        #expect(download.knowledge?.best == 1)
    }

    @Test("A small file is fetched with one request on one connection", arguments: [3 << 20, 15 << 20] as [Int64])
    func small(size: Int64) {
        var server = SimulatedServer()
        Self.throttle(&server)
        let download = SimulatedDownload.run(server, size: size, wish: nil, step: 0.002)
        #expect(download.requests == 1)
        #expect(download.mostConnections == 1)
        #expect(download.complaints.isEmpty)
    }

    @Test("Two runs with the same seed are equal")
    func deterministic() {
        var server = SimulatedServer()
        server.stalls = 0.1
        let runs = (0..<2).map { _ in SimulatedDownload.run(server, size: 50 * Self.megabyte, wish: 8) }
        #expect(runs[0].time == runs[1].time)
        #expect(runs[0].requests == runs[1].requests)
    }
}
