import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    /// Disks that fail a sync and lose its pages, or report a sync before its bytes are safe, and then lose power.
    @Suite("Disks that lie, and loss of power", .serialized, .timeLimit(.minutes(10)))
    struct LyingDiskFaultTests {
        private static let rate = 4 * mebibyte
        private static let content = Content(seed: 316, size: 6 * rate)

        /// Returns an answer that lasts for several syncs. It stalls before its end, so that no download ends before
        /// its power fails.
        private static func slow(_ connections: Int) -> FaultReply {
            FaultReply(content, etag: "\"v1\"").with {
                $0.bytesPerSecond = Int(rate) / connections
                $0.gate = Gate(after: 4 * rate / Int64(connections))
            }
        }

        private static func cases(_ losses: [PowerCut.Loss]) -> [(loss: PowerCut.Loss, connections: Int, number: Int)] {
            losses.flatMap { loss in
                [1, 4].flatMap { connections in (0..<(FaultTrial.isFull ? 6 : 1)).map { (loss, connections, $0) } }
            }
        }

        @Test("A sync fails and loses its pages, then the power fails: the next command makes the right file")
        func failedSync() async throws {
            try await concurrently(Self.cases(PowerCut.Loss.allCases), atMost: 4) { loss, connections, number in
                var random = SeededGenerator(for: "Failed sync, \(loss), \(connections), \(number)")
                let begin = Int64.random(in: Self.rate / 8...2 * Self.rate, using: &random)
                try await withPowerCut(serving: Self.slow(connections)) { power, server in
                    let get = try power.start(["get", "-x", "\(connections)", server.url()])
                    #expect(await server.waitUntil { $0.bytesSent >= begin })
                    try power.failNextSync()
                    let first = try await get.result()
                    #expect(first.ending == .exited(3) && power.hasFailed, "\(loss) \(first.stderr)")
                    try power.cut(loss, using: &random)
                    server.handle { _ in FaultReply(Self.content, etag: "\"v1\"") }
                    let result = try await power.run("resume", "1")
                    try FaultTrial(
                        area: .power, fault: "\(loss): after a sync that failed", moment: .resume,
                        connections: connections
                    ).judge(result, in: power.sandbox, right: [Self.content], errors: [])
                }
            }
        }

        @Test(
            "A sync fails and loses its pages: the same command then makes the right file", arguments: [1, 4],
            [false, true])
        func failedSyncAlone(connections: Int, interrupts: Bool) async throws {
            try await withPowerCut(serving: FaultReply(Self.content, etag: "\"v1\"")) { power, server in
                let trial = FaultTrial(
                    area: .local, fault: "a sync fails and loses the bytes since the last one",
                    moment: interrupts ? .middle : .fresh, connections: connections)
                let words = ["get", "-x", "\(connections)", "--retries", "0", server.url()]
                try power.failNextSync()
                if interrupts { server.holdEnds() }
                // The sync that fails is the one of the interrupted download, or the last one.
                let process = try power.start(words) { launch in
                    launch.environment["DLM_FAULT_SYNC_BYTES"] = nil
                    launch.environment["DLM_FAULT_SYNC_SECONDS"] = nil
                }
                if interrupts {
                    // Without bytes in the file, nothing would be synced.
                    try await power.sandbox.waitToRecord(4 * mebibyte)
                    process.send(SIGTERM)
                }
                let first = try await process.result()
                server.releaseEnds()
                #expect(power.hasFailed, "\(trial)")
                #expect(first.ending == (interrupts ? .signalled(SIGTERM) : .exited(3)), "\(trial) \(first.stderr)")
                #expect(!power.sandbox.exists("file.bin"), "\(trial)")
                let second = try await power.start(words).result()
                try trial.judge(second, in: power.sandbox, right: [Self.content], errors: [])
            }
        }

        /// Everything since the last sync but one is lost. A disk that in addition keeps later pages by chance, like
        /// ``PowerCut/Loss/mixed``, cannot be noticed without a checksum.
        @Test("Syncs that return too early, and then the power fails: the next command makes the right file")
        func earlyReturn() async throws {
            try await concurrently(Self.cases([.strict]), atMost: 4) { loss, connections, number in
                var random = SeededGenerator(for: "Late syncs, \(loss), \(connections), \(number)")
                let end = Int64.random(in: Self.rate / 2...3 * Self.rate, using: &random)
                try await withPowerCut(serving: Self.slow(connections)) { power, server in
                    let get = try power.start(["get", "-x", "\(connections)", server.url()]) {
                        $0.environment["DLM_POWER_LATE"] = "1"
                    }
                    #expect(await server.waitUntil { $0.bytesSent >= end })
                    try await get.killed()
                    try power.cut(loss, using: &random)
                    server.handle { _ in FaultReply(Self.content, etag: "\"v1\"") }
                    let result = try await power.run("get", server.url())
                    try FaultTrial(
                        area: .power, fault: "\(loss): after syncs that returned too early", moment: .resume,
                        connections: connections
                    ).judge(result, in: power.sandbox, right: [Self.content], errors: [])
                }
            }
        }
    }
}
