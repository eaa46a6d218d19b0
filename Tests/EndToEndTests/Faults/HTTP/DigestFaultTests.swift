import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Servers that send a digest, right or wrong", .long, .serialized, .timeLimit(.minutes(3)))
    struct DigestFaultTests {
        static let content = Content(seed: 90, size: 9 * mebibyte)
        /// Another content. Its digests are the wrong digests that servers send.
        static let other = Content(seed: 91, size: 9 * mebibyte)
        static let kinds = FaultTrial.short(ServedDigest.allCases, each: 3)

        /// Returns the right file with a digest of `named`.
        static func reply(_ kind: ServedDigest, of named: Content = content) -> FaultReply {
            FaultReply(content, etag: "\"v1\"").with { $0.fields.append(kind.field(named)) }
        }

        static func get(_ sandbox: DlmSandbox, _ server: FaultServer, _ connections: Int) async throws
            -> ChildProcess.Result
        {
            try await sandbox.perform("get", "-x", "\(connections)", "--retry-delay", "0", server.url())
        }

        /// Expects that the file was not accepted, and that its bytes are kept.
        static func expectRejected(_ result: ChildProcess.Result, in sandbox: DlmSandbox, _ trial: FaultTrial) throws {
            try trial.judge(result, in: sandbox, right: [], errors: [9])
            #expect(sandbox.names == ["file.bin.part"], "\(trial)")
            #expect(
                result.errorLines.last?.contains(
                    "does not match the digest that the server sent") ?? false, "\(trial)")
        }

        /// Returns whether the whole file was sent, and only the bytes of overlap checks twice.
        static func isWhole(_ sent: Int64) -> Bool { (content.size..<content.size + content.size / 100).contains(sent) }

        /// Expects that the same command, against a right server, fetches the whole file again.
        static func expectRecovery(_ sandbox: DlmSandbox, _ server: FaultServer, _ trial: FaultTrial) async throws {
            server.handle { _ in FaultReply(Self.content, etag: "\"v1\"") }
            let before = server.log.bytesSent
            let result = try await get(sandbox, server, trial.connections)
            try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox, trial)
            #expect(result.stderr.contains("starts over: its checksum did not match"), "\(trial)")
            #expect(Self.isWhole(server.log.bytesSent - before), "\(trial)")
        }

        static func verifiedBy(_ sandbox: DlmSandbox) async throws -> [String?] {
            struct Shown: Decodable { let checksum, verifiedBy: String? }
            let result = try await sandbox.perform("show", "--json", try await sandbox.onlyID())
            let shown = try JSONDecoder().decode(Shown.self, from: Data(result.stdout.utf8))
            return [shown.checksum, shown.verifiedBy]
        }

        @Test(
            "A right digest from the server verifies the file, and show reports the server's digest",
            arguments: kinds, [1, 4])
        func right(kind: ServedDigest, connections: Int) async throws {
            let trial = FaultTrial(area: .digest, fault: "\(kind), right", connections: connections)
            try await withDlm(serving: Self.reply(kind)) { sandbox, server in
                let result = try await Self.get(sandbox, server, connections)
                try trial.judge(result, in: sandbox, right: [Self.content], errors: [])
                let algorithm = kind == .oldMD5 ? "md5" : kind == .repr512 ? "sha512" : "sha256"
                let expected = ["\(algorithm):\(Self.content.digest(algorithm))", "server"]
                #expect(try await Self.verifiedBy(sandbox) == expected, "\(trial)")
                #expect(server.log.entries.allSatisfy { $0.request["Want-Repr-Digest"] == "sha-256=10, sha-512=3" })
                #expect(Self.isWhole(server.log.bytesSent), "\(trial)")
            }
        }

        /// The fields with digests that may follow a chunked body.
        private static let trailers = ["Repr-Digest: sha-256=:%:", "Content-Digest: sha-256=:%:", "Digest: SHA-256=%"]

        @Test(
            "A digest in the trailer of a chunked body: right, or status 9", arguments: trailers,
            [40 << 10 as Int64, 9 * mebibyte])
        func trailer(field: String, size: Int64) async throws {
            let (content, other) = (Content(seed: 92, size: size), Content(seed: 93, size: size))
            let named = Observed(other)
            try await withDlm({ _ in
                FaultReply(content, etag: "\"v1\"").with {
                    $0.framing = .chunked
                    $0.ranges = .ignored
                    $0.lastChunk =
                        "0\r\n"
                        + field.replacingOccurrences(of: "%", with: named.value.base64Digest("sha256")) + "\r\n\r\n"
                }
            }) { sandbox, server in
                let name = field.prefix { $0 != ":" }
                let trial = FaultTrial(area: .digest, fault: "trailer \(name), wrong", connections: 1)
                let result = try await Self.get(sandbox, server, 1)
                try trial.judge(result, in: sandbox, right: [], errors: [9])
                let piped = try await sandbox.perform("get", "-o", "-", server.url())
                #expect(piped.ending == .exited(9), "\(piped.stderr)")
                named.update { $0 = content }
                try expectDownloaded(
                    content, as: "file.bin", by: try await Self.get(sandbox, server, 1), in: sandbox, trial)
                #expect(
                    try await Self.verifiedBy(sandbox) == ["sha256:\(content.digest("sha256"))", "server"], "\(field)")
            }
        }

        @Test("A wrong digest: status 9, and no final name; the next command starts over", arguments: kinds, [1, 4])
        func wrong(kind: ServedDigest, connections: Int) async throws {
            let trial = FaultTrial(area: .digest, fault: "\(kind), wrong", connections: connections)
            try await withDlm(serving: Self.reply(kind, of: Self.other)) { sandbox, server in
                let result = try await Self.get(sandbox, server, connections)
                try Self.expectRejected(result, in: sandbox, trial)
                #expect(Self.isWhole(server.log.bytesSent), "\(trial)")
                try await Self.expectRecovery(sandbox, server, trial)
            }
        }

        @Test(
            "A wrong digest in the first answer and a right one in the next: the download starts over, and is right",
            arguments: kinds, [1, 4])
        func rightLater(kind: ServedDigest, connections: Int) async throws {
            let trial = FaultTrial(
                area: .digest, fault: "\(kind), wrong in the first answer only", moment: .middle,
                connections: connections)
            try await withDlm({ request in
                request.number == 1
                    ? Self.reply(kind, of: Self.other).with { $0.cut = .close(after: mebibyte) } : Self.reply(kind)
            }) { sandbox, server in
                let result = try await Self.get(sandbox, server, connections)
                try trial.judge(result, in: sandbox, right: [Self.content], errors: [])
                #expect(result.stderr.contains("its digest was"), "\(trial) \(result.stderr)")
            }
        }

        @Test(
            "A wrong digest for one of several connections: the download starts over, and the file is right",
            arguments: kinds)
        func segment(kind: ServedDigest) async throws {
            let trial = FaultTrial(
                area: .digest, fault: "\(kind), wrong in one answer", moment: .segment, connections: 4)
            try await withDlm({ request in
                Self.reply(kind, of: request.number == 3 ? Self.other : Self.content)
            }) { sandbox, server in
                let result = try await Self.get(sandbox, server, 4)
                try trial.judge(result, in: sandbox, right: [Self.content], errors: [])
                #expect(result.stderr.contains("its digest was"), "\(trial) \(result.stderr)")
            }
        }

        @Test(
            "A wrong digest when another session resumes: status 9; the next command starts over", arguments: kinds,
            [1, 4])
        func resumed(kind: ServedDigest, connections: Int) async throws {
            let trial = FaultTrial(
                area: .digest, fault: "\(kind), wrong", moment: .resume, connections: connections)
            let slow = Self.reply(kind).with { $0.bytesPerSecond = Int(16 * mebibyte) / connections }
            try await withDlm(serving: slow) { sandbox, server in
                _ = try await sandbox.performInterrupted(
                    "get", "-x", "\(connections)", server.url(), after: 3 * mebibyte, from: server)
                server.handle { _ in Self.reply(kind, of: Self.other) }
                let result = try await Self.get(sandbox, server, connections)
                try Self.expectRejected(result, in: sandbox, trial)
                try await Self.expectRecovery(sandbox, server, trial)
            }
        }

        @Test(
            "The digest is kept during an interruption, and verifies the resumed file",
            arguments: FaultTrial.short([1, 4], each: 2), FaultTrial.short([SIGKILL, SIGTERM], each: 2))
        func kept(connections: Int, signal: Int32) async throws {
            let trial = FaultTrial(
                area: .digest, fault: "told in the first answer only, right", moment: .resume, connections: connections)
            // The server is slow, so that the signal comes after the first checkpoint.
            let slow = Self.reply(.repr256).with { $0.bytesPerSecond = Int(2 * mebibyte) / connections }
            try await withDlm(serving: slow) { sandbox, server in
                _ = try await sandbox.interrupt(
                    "get", "-x", "\(connections)", server.url(), with: signal, after: 6 * mebibyte, from: server,
                    isRecorded: true)
                server.handle { _ in FaultReply(Self.content, etag: "\"v1\"") }
                let result = try await Self.get(sandbox, server, connections)
                try trial.judge(result, in: sandbox, right: [Self.content], errors: [])
                #expect(try await Self.verifiedBy(sandbox) == ["sha256:\(Self.content.sha256)", "server"])
            }
        }

        @Test("A change of the file that no validator shows is found by its digest", arguments: [1, 4])
        func change(connections: Int) async throws {
            let trial = FaultTrial(
                area: .digest, fault: "the file changes, seen by its digest alone", moment: .resume,
                connections: connections)
            let new = FaultReply(Self.other).with {
                $0.ranges = .honouredBlindly
                $0.fields.append(ServedDigest.repr256.field(Self.other))
            }
            let slow = Self.reply(.repr256).with {
                $0.etag = nil
                $0.bytesPerSecond = Int(16 * mebibyte)
            }
            try await withDlm(serving: slow) { sandbox, server in
                _ = try await sandbox.performInterrupted(
                    "get", "-x", "\(connections)", server.url(), after: 3 * mebibyte, from: server)
                server.handle { _ in new }
                let result = try await Self.get(sandbox, server, connections)
                try trial.judge(result, in: sandbox, right: [Self.other], errors: [])
                #expect(result.stderr.contains("starts over: its digest was"), "\(trial) \(result.stderr)")
            }
        }

        @Test(
            "Content-MD5 is the digest of the whole file in a whole answer, and of the part in a partial answer",
            arguments: [true, false], [FaultReply.RangeBehaviour.ignored, .honoured])
        func contentMD5(isRight: Bool, ranges: FaultReply.RangeBehaviour) async throws {
            let md5 = (isRight ? Self.content : Self.other).base64Digest("md5")
            let reply = FaultReply(Self.content).with { $0.fields.append(("Content-MD5", md5)) }
            try await withDlm(serving: reply.with { $0.ranges = ranges }) { sandbox, server in
                let fault = "Content-MD5, \(isRight ? "right" : "wrong")\(ranges == .ignored ? "" : ", in a 206")"
                let trial = FaultTrial(area: .digest, fault: fault)
                let result = try await Self.get(sandbox, server, 1)
                if isRight {
                    try trial.judge(result, in: sandbox, right: [Self.content], errors: [])
                    #expect(try await Self.verifiedBy(sandbox) == ["md5:\(Self.content.digest("md5"))", "server"])
                } else {
                    try Self.expectRejected(result, in: sandbox, trial)
                    try await Self.expectRecovery(sandbox, server, trial)
                }
            }
            // With several connections, the first answer contains only the beginning of the file, so its Content-MD5
            // verifies nothing.
            let inParts = reply.with { $0.etag = "\"v1\"" }
            try await withDlm(serving: inParts) { sandbox, server in
                let result = try await Self.get(sandbox, server, 4)
                try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox)
                #expect(try await Self.verifiedBy(sandbox) == [nil, nil])
            }
        }

        @Test("The user's checksum decides, whatever digest the server sends", arguments: [1, 4])
        func user(connections: Int) async throws {
            let trial = FaultTrial(
                area: .digest, fault: "Repr-Digest: sha-256, wrong; --checksum, right", connections: connections)
            try await withDlm(serving: Self.reply(.repr256, of: Self.other)) { sandbox, server in
                let right = "sha256:\(Self.content.sha256)"
                let result = try await sandbox.perform(
                    "get", "-x", "\(connections)", "--checksum", right, server.url())
                try trial.judge(result, in: sandbox, right: [Self.content], errors: [])
                #expect(try await Self.verifiedBy(sandbox) == [right, "user"])
                #expect(server.log.entries.allSatisfy { $0.request["Want-Repr-Digest"] == nil })
            }
            try await withDlm(serving: Self.reply(.repr256)) { sandbox, server in
                let wrong = "sha256:\(Self.other.sha256)"
                let result = try await sandbox.perform(
                    "get", "-x", "\(connections)", "--checksum", wrong, server.url())
                try FaultTrial(
                    area: .digest, fault: "Repr-Digest: sha-256, right; --checksum, wrong", connections: connections
                ).judge(result, in: sandbox, right: [], errors: [9])
                #expect(sandbox.names == ["file.bin.part"])
                // The bytes on disk are right, so without the wrong checksum nothing has to be fetched again.
                let before = server.log.bytesSent
                let again = try await Self.get(sandbox, server, connections)
                try expectDownloaded(Self.content, as: "file.bin", by: again, in: sandbox)
                #expect(server.log.bytesSent == before)
            }
        }
    }
}
