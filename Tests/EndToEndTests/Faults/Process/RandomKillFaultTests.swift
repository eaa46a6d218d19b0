import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Killed again and again", .serialized, .timeLimit(.minutes(40)))
    struct RandomKillFaultTests {
        static let kills = FaultTrial.isFull ? 1000 : 6
        /// Bytes per second of all connections together.
        static let rate = mebibyte
        static let connections = 4
        /// The content. It has more bytes than arrive before the last kill. A kill is 0.7 s after a start on average,
        /// and the last kill may be late.
        static let content = Content(seed: 320, size: Int64(kills + 6) * mebibyte)

        @Test("After random kills in a row, the file is right; a kill costs at most one second on average")
        func kills() async throws {
            var random = SeededGenerator(for: "Random kills")
            let whole = FaultReply(Self.content, etag: "\"v1\"")
            let slow = whole.with { $0.bytesPerSecond = Int(Self.rate) / Self.connections }
            let begin = ContinuousClock.now
            try await withDlm(serving: slow) { sandbox, server in
                _ = try await sandbox.interrupt(
                    "get", "-x", "\(Self.connections)", server.url(), with: SIGKILL, after: 1, from: server)
                // The file cannot be complete before the last kill, however slow this machine is.
                server.holdEnds()
                for kill in 2...Self.kills {
                    // The moment is before the first byte, before the first checkpoint, or after several checkpoints.
                    let moment = Duration.milliseconds(.random(in: 0...1400, using: &random))
                    try #require(try await Self.kill(sandbox, moment), "done before kill \(kill)")
                    #expect(!sandbox.exists("file.bin"), "kill \(kill)")
                }
                let (twice, time) = (server.log.bytesSentTwice(), ContinuousClock.now - begin)
                #expect(!holdsToPromises || twice <= Int64(Self.kills) * Self.rate)
                // The rest is sent at full speed, so that some kills come at the end of the download.
                server.handle { _ in whole }
                server.releaseEnds()
                var more = 0
                while more < 100, try await Self.kill(sandbox, .milliseconds(.random(in: 0...400, using: &random))) {
                    more += 1
                    if sandbox.exists("file.bin") { try expectFile(Self.content, "file.bin", in: sandbox, more) }
                }
                let result = try await sandbox.run("resume", "1")
                try FaultTrial(
                    area: .process, fault: "\(Self.kills) kills at random moments", moment: .resume,
                    connections: Self.connections
                ).judge(result, in: sandbox, right: [Self.content], errors: [])
                #expect(try await sandbox.list().map(\.state) == ["completed"])
                print(
                    """
                    \(Self.kills) kills in \(time) at \(Self.rate) B/s: \(twice) bytes sent twice; then \(more) at full \
                    speed; size \(Self.content.size), sent in all \(server.log.bytesSent)
                    """)
            }
        }

        /// Resumes the download and kills dlm after this time. Returns false if the download was complete before the
        /// kill.
        private static func kill(_ sandbox: DlmSandbox, _ moment: Duration) async throws -> Bool {
            let process = try sandbox.start("resume", "1")
            try await letPass(moment)
            process.send(SIGKILL)
            let result = try await process.result()
            if result.ending == .exited(0) { return false }
            #expect(result.ending == .signalled(SIGKILL), "\(result.stderr)")
            return true
        }
    }
}
