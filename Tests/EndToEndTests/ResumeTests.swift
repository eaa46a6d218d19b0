import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Resume after kill -9", .long, .serialized, .timeLimit(.minutes(3)))
    struct ResumeTests {
        /// The command that continues an interrupted download.
        enum Way: CaseIterable {
            case resume, sameGet
        }

        static let content = Content(seed: 40, size: 16 * mebibyte)
        /// Bytes per second of all connections together.
        static let rate = 8 * mebibyte

        static func reply(connections: Int, validated: Bool = true) -> FaultReply {
            FaultReply(content, etag: validated ? "\"v1\"" : nil).with {
                $0.bytesPerSecond = Int(rate) / connections
            }
        }

        /// Expects that the server has not sent the recorded bytes again. After `before` bytes, it may have sent the
        /// missing bytes, and at most 1 MiB more for overlap checks.
        static func expectKept(
            _ kept: Int64, of content: Content, _ server: FaultServer, since before: Int64, _ what: Any = "",
            sourceLocation: SourceLocation = #_sourceLocation
        ) {
            let sent = server.log.bytesSent - before
            #expect(
                sent <= content.size - kept + mebibyte, "\(what): kept \(kept), sent \(sent)",
                sourceLocation: sourceLocation)
        }

        @Test(
            "After a kill at a random moment, the file is right, and about a second of traffic at most is sent twice",
            arguments: Way.allCases)
        func killed(way: Way) async throws {
            var random = SeededGenerator(for: "killed, \(way)")
            let moments = (0..<10).map { index in
                (
                    bytes: Int64.random(in: 1...Self.content.size * 9 / 10, using: &random),
                    connections: [1, 4][index % 2]
                )
            }
            try await concurrently(moments, atMost: 5) { moment in
                try await withDlm(serving: Self.reply(connections: moment.connections)) { sandbox, server in
                    let connections = "\(moment.connections)"
                    _ = try await sandbox.interrupt(
                        "get", "-x", connections, server.url(), with: SIGKILL, after: moment.bytes, from: server)
                    #expect(!sandbox.exists("file.bin"))
                    let (kept, before) = (try await sandbox.show(1).received, server.log.bytesSent)
                    let result =
                        way == .sameGet
                        ? try await sandbox.perform("get", "-x", connections, server.url())
                        : try await sandbox.perform("resume", try await sandbox.onlyID())
                    try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox, moment)
                    Self.expectKept(kept, of: Self.content, server, since: before, moment)
                    let twice = server.log.bytesSentTwice()
                    #expect(!holdsToPromises || twice <= Self.rate + mebibyte / 2, "killed after \(moment)")
                }
            }
        }
    }
}
