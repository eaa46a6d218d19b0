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

        @Test("If a download is killed several times, it is continued to one complete file")
        func killedAgainAndAgain() async throws {
            // Each answer stalls after a part of the file, so that enough is left for every round.
            let parts = Self.reply(connections: 2).with { $0.gate = Gate(after: 2 * mebibyte) }
            try await withDlm(serving: parts) { sandbox, server in
                for round in 1...4 as ClosedRange<Int64> {
                    let target = server.log.bytesSent + 3 * mebibyte / 2
                    _ = try await sandbox.interrupt(
                        "get", "-x", "2", server.url(), with: SIGKILL, after: target, from: server)
                    #expect(sandbox.names == ["file.bin.part"], "round \(round)")
                }
                let (kept, before) = (try await sandbox.show(1).received, server.log.bytesSent)
                server.handle { _ in Self.reply(connections: 2) }
                let result = try await sandbox.perform("resume", try await sandbox.onlyID())
                try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox)
                Self.expectKept(kept, of: Self.content, server, since: before)
                #expect(!holdsToPromises || server.log.bytesSentTwice() <= 4 * (Self.rate + mebibyte / 2))
            }
        }

        @Test("A download from nginx is continued after a kill")
        func nginx() async throws {
            try await withNginx { sandbox, nginx in
                let content = Content(seed: 41, size: 12 * mebibyte)
                try nginx.add(content, as: "a.bin")
                try await sandbox.kill(["-x", "1", nginx.url("/slow/a.bin")], after: 3 * mebibyte)
                let kept = try await sandbox.show(1).received
                let result = try await sandbox.perform("resume", try await sandbox.onlyID())
                try expectDownloaded(content, as: "a.bin", by: result, in: sandbox)
                #expect(await nginx.waitUntil { $0.count == 2 })
                #expect(nginx.log[1].bodyBytes <= content.size - kept + mebibyte)
                let sent = nginx.log.reduce(0) { $0 + $1.bodyBytes }
                #expect(!holdsToPromises || sent - content.size <= Int64(Nginx.slowRate) + mebibyte)
            }
        }

        @Test("If a download is killed while it finishes, the next command completes it", arguments: 0..<10)
        func killedAtTheEnd(index: Int) async throws {
            let content = Content(seed: 42, size: mebibyte)
            try await withDlm(serving: FaultReply(content, etag: "\"v1\"")) { sandbox, server in
                let process = try sandbox.start("get", server.url())
                #expect(await server.waitUntil { $0.bytesSent == content.size })
                try await letPass(.milliseconds(2 * index))
                process.send(SIGKILL)
                _ = try await process.result()
                if sandbox.exists("file.bin") { try expectFile(content, "file.bin", in: sandbox) }
                let result = try await sandbox.perform("get", server.url())
                try expectDownloaded(content, as: "file.bin", by: result, in: sandbox)
                #expect(try await sandbox.list().map(\.state) == ["completed"])
            }
        }

        @Test(
            "Without validators, all bytes on disk are compared; with --allow-unverified, only the last bytes are",
            arguments: [true, false])
        func noValidators(isStrict: Bool) async throws {
            try await withDlm(serving: Self.reply(connections: 1, validated: false)) { sandbox, server in
                _ = try await sandbox.interrupt(
                    "get", server.url(), with: SIGKILL, after: 12 * mebibyte, from: server, isRecorded: true)
                let (kept, before) = (try await sandbox.show(1).received, server.log.bytesSent)
                let result = try await sandbox.perform("get", server.url()) { launch in
                    if !isStrict { launch.arguments.append("--allow-unverified") }
                }
                try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox)
                #expect(result.stderr.contains("fetches its bytes again: without a strong ETag") == isStrict)
                if isStrict {
                    // The additional MiB is for bytes that were on their way to the killed process.
                    #expect(server.log.bytesSent - before <= Self.content.size + mebibyte)
                } else {
                    Self.expectKept(kept, of: Self.content, server, since: before)
                    #expect(!holdsToPromises || server.log.bytesSentTwice() <= Self.rate + mebibyte)
                }
            }
        }

        @Test("From a server without ranges, the whole file is requested again")
        func noRanges() async throws {
            let content = Content(seed: 43, size: 6 * mebibyte)
            let reply = FaultReply(content, etag: "\"v1\"").with {
                $0.ranges = .ignored
                $0.bytesPerSecond = Int(8 * mebibyte)
            }
            try await withDlm(serving: reply) { sandbox, server in
                _ = try await sandbox.interrupt(
                    "get", server.url(), with: SIGKILL, after: 3 * mebibyte, from: server)
                let result = try await sandbox.perform("resume", try await sandbox.onlyID())
                try expectDownloaded(content, as: "file.bin", by: result, in: sandbox)
            }
        }

        static let foreign = Content(seed: 45, size: 4 * mebibyte)

        enum Damage: CaseIterable {
            case removed, truncated, replaced
            /// The file was deleted and made anew. A file system may give the new file the inode number of the old one.
            case recreated
        }

        @Test("If somebody tampers with a partial file, this never leads to a wrong file", arguments: Damage.allCases)
        func tampered(damage: Damage) async throws {
            let content = Content(seed: 44, size: 6 * mebibyte)
            let reply = FaultReply(content, etag: "\"v1\"").with { $0.bytesPerSecond = Int(8 * mebibyte) }
            try await withDlm(serving: reply) { sandbox, server in
                _ = try await sandbox.performInterrupted("get", server.url(), after: 4 * mebibyte, from: server)
                let partial = sandbox.file("file.bin.part")
                switch damage {
                case .removed: try FileManager.default.removeItem(atPath: partial)
                case .truncated: #expect(truncate(partial, off_t(mebibyte)) == 0)
                case .replaced, .recreated:
                    try FileManager.default.moveItem(atPath: partial, toPath: sandbox.root("aside"))
                    if damage == .recreated { try FileManager.default.removeItem(atPath: sandbox.root("aside")) }
                    try Self.foreign.write(to: partial)
                }
                let result = try await sandbox.perform("resume", try await sandbox.onlyID())
                if result.ending == .exited(0) {
                    try expectDownloaded(content, as: "file.bin", by: result, in: sandbox)
                } else {
                    #expect(damage != .removed)
                    expectFailure(3, of: result)
                    let isLeftAlone = try damage == .truncated || sha256(of: partial) == Self.foreign.sha256
                    #expect(isLeftAlone)
                }
            }
        }
    }
}
