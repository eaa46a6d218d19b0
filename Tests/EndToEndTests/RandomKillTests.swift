import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Killed again and again", .timeLimit(.minutes(40)))
    struct RandomKillTests {
        /// 1,000, or fewer in the short form.
        static let kills = FaultTrial.isFull ? 1000 : 12
        /// The last of them fall around the end of the download.
        static let lastKills = kills / 4
        /// Bytes a second of all connections together.
        static let rate = mebibyte
        static let connections = 4
        static let content = Content(seed: 320, size: Int64(kills) * mebibyte / 2)

        /// From the start of the process: before its first byte, before its first checkpoint, after several.
        static func moment(_ random: inout SeededGenerator) -> Duration {
            .milliseconds(Int.random(in: 0...1400, using: &random))
        }

        @Test("Random kills in a row: the file is right, and each costs at most a second of traffic")
        func kills() async throws {
            var random = SeededGenerator(for: "Random kills")
            let reply = FaultReply(Self.content, etag: "\"v1\"").with {
                $0.bytesPerSecond = Int(Self.rate) / Self.connections
            }
            let begin = ContinuousClock.now
            try await withDlm(serving: reply) { sandbox, server in
                // What a kill in its first moments would make of it is another test's.
                _ = try await sandbox.interrupt(
                    "get", "-x", "\(Self.connections)", server.url(), with: SIGKILL, after: 1, from: server)
                var kills = 1
                while kills < Self.kills - Self.lastKills, try await Self.kill(sandbox, Self.moment(&random)) {
                    kills += 1
                    #expect(!sandbox.exists("file.bin"), "after \(kills) kills")
                }
                let slowly = (sent: server.log.bytesSent, kills: kills)
                let allowed = Int64(slowly.kills) * Self.rate
                #expect(server.log.bytesSentTwice() <= allowed)
                // The rest at full speed but for its last second, so that what finishes the file is killed as well.
                server.handle { _ in FaultReply(Self.content, etag: "\"v1\"") }
                while kills < Self.kills,
                    try await Self.kill(sandbox, .milliseconds(.random(in: 0...400, using: &random)))
                {
                    kills += 1
                    if sandbox.exists("file.bin") { try expectFile(Self.content, "file.bin", in: sandbox, kills) }
                }
                let result = try await sandbox.run("resume", "1")
                try FaultTrial(
                    area: .process, fault: "\(Self.kills) kills at random moments", moment: .resume,
                    connections: Self.connections
                ).judge(result, in: sandbox, right: [Self.content], errors: [])
                #expect(try await sandbox.list().map(\.state) == ["completed"])
                print(
                    """
                    \(kills) kills in \(ContinuousClock.now - begin), \(slowly.kills) of them at \(Self.rate) B/s: \
                    size \(Self.content.size), sent \(server.log.bytesSent), twice \(server.log.bytesSentTwice())
                    """)
            }
        }

        /// Resumes it and kills that so long after its start; false when it was done before.
        private static func kill(_ sandbox: DlmSandbox, _ moment: Duration) async throws -> Bool {
            let process = try sandbox.start("resume", "1")
            if await process.waitForEnd(atMost: moment) {
                let result = try await process.result()
                #expect(result.ending == .exited(0), "\(result.stderr)")
                return false
            }
            process.send(SIGKILL)
            let result = try await process.result()
            #expect(result.ending == .signalled(SIGKILL) || result.ending == .exited(0), "\(result.stderr)")
            return true
        }
    }
}
