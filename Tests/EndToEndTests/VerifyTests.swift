import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("verify", .serialized, .timeLimit(.minutes(2)))
    struct VerifyTests {
        static let content = Content(seed: 100, size: 2 * mebibyte)
        static let reply = FaultReply(content, etag: "\"v1\"")

        /// Overwrites a byte in the middle of a file.
        static func damage(_ path: String) throws {
            let byte = try Data(contentsOf: URL(fileURLWithPath: path))[1_000_000]
            try overwrite(path, at: 1_000_000, with: [byte ^ 1])
        }

        struct Verified: Decodable, Equatable {
            struct Failure: Decodable, Equatable { let kind, reason: String }
            let version: Int
            let event: String
            let id: Int?
            let path: String
            let verified: Bool
            let checksum, source: String?
            let bytes: Int64?
            let error: Failure?
        }

        @Test(
            "verify checks a finished download, by number and by name, against its recorded checksum",
            arguments: [true, false])
        func recorded(byUser: Bool) async throws {
            let reply = Self.reply.with { if !byUser { $0.fields.append(ServedDigest.repr512.field(Self.content)) } }
            try await withDlm(serving: reply) { sandbox, server in
                let checksum = byUser ? ["--checksum", "sha256:\(Self.content.sha256)"] : []
                #expect(try await sandbox.run(["get"] + checksum + [server.url()]).ending == .exited(0))
                let id = try await sandbox.onlyID()
                let path = sandbox.file("file.bin")
                for (target, shown) in [
                    (id, path), ("file.bin", "file.bin"), ("./file.bin", "./file.bin"), (path, path),
                ] {
                    let result = try await sandbox.done("verify", target)
                    #expect(result.stdout == "\(shown): OK\n")
                    #expect(result.stderr == "")
                }
                let json = try await sandbox.run("verify", "--json", id, "file.bin")
                let lines = try json.outputLines.map { try JSONDecoder().decode(Verified.self, from: Data($0.utf8)) }
                let digest =
                    byUser ? "sha256:\(Self.content.sha256)" : "sha512:\(Self.content.digest("sha512"))"
                #expect(lines.map(\.path) == [path, "file.bin"])
                #expect(
                    lines[0]
                        == Verified(
                            version: 1, event: "verified", id: Int(id), path: path, verified: true, checksum: digest,
                            source: byUser ? "user" : "server", bytes: Self.content.size, error: nil))
                #expect(lines[1].id == Int(id))
                let quiet = try await sandbox.done("verify", "-q", id)
                #expect(quiet.stdout + quiet.stderr == "")

                try Self.damage(path)
                let damaged = try await sandbox.run("verify", id)
                #expect(damaged.ending == .exited(9))
                #expect(damaged.stdout == "\(path): FAILED\n")
                #expect(damaged.errorLines.count == 1)
                #expect(damaged.stderr.contains("checksum does not match: expected \(digest)"), "\(damaged.stderr)")
                try #"{"#.write(toFile: path, atomically: false, encoding: .utf8)
                let cut = try await sandbox.run("verify", "--json", "file.bin")
                #expect(cut.ending == .exited(9))
                #expect(cut.stderr.contains("size does not match: expected 2097152 bytes, got 1"), "\(cut.stderr)")
                let line = try JSONDecoder().decode(Verified.self, from: Data(cut.stdout.utf8))
                #expect(line.error == Verified.Failure(kind: "verification", reason: "size"))
                #expect(!line.verified)
                try FileManager.default.removeItem(atPath: path)
                let missing = try await sandbox.run("verify", id)
                #expect(missing.ending == .exited(3))
                #expect(missing.stderr == "dlm: \(path): open: No such file or directory\n")
            }
        }

        @Test("Without a checksum a file is not verified, whatever its size")
        func unknown() async throws {
            try await withDlm(serving: Self.reply) { sandbox, server in
                #expect(try await sandbox.run("get", server.url()).ending == .exited(0))
                try "mine".write(toFile: sandbox.file("mine"), atomically: false, encoding: .utf8)
                for (target, text) in [
                    (try await sandbox.onlyID(), "its size is right, but no checksum is known; give one with"),
                    ("mine", "mine: no checksum is known; give one with --checksum or --checksum-file"),
                ] {
                    let result = try await sandbox.run("verify", target)
                    #expect(result.ending == .exited(9))
                    #expect(result.stderr.contains(text), "\(result.stderr)")
                    #expect(result.stdout.hasSuffix(": FAILED\n"))
                }
            }
        }

        @Test("An incomplete download is not verified")
        func incomplete() async throws {
            let slow = Self.reply.with { $0.bytesPerSecond = Int(4 * mebibyte) }
            try await withDlm(serving: slow) { sandbox, server in
                _ = try await sandbox.interrupt("get", server.url(), with: SIGINT, after: mebibyte, from: server)
                let result = try await sandbox.run("verify", try await sandbox.onlyID())
                #expect(result.ending == .exited(9))
                #expect(result.stderr.contains("not complete: paused"), "\(result.stderr)")
            }
        }

        @Test("verify accepts a checksum or a checksum file")
        func given() async throws {
            try await withDlm { sandbox in
                try Self.content.write(to: sandbox.file("a.bin"))
                try "x".write(toFile: sandbox.file("b.bin"), atomically: false, encoding: .utf8)
                let right = "sha1:\(Self.content.digest("sha1"))"
                #expect(try await sandbox.run("verify", "--checksum", right, "a.bin").ending == .exited(0))
                #expect(try await sandbox.run("verify", "--checksum", right, "b.bin").ending == .exited(9))
                #expect(try await sandbox.run("verify", "--checksum", right, "a.bin", "b.bin").ending == .exited(2))
                #expect(try await sandbox.run("verify").ending == .exited(2))
                let list = sandbox.root("config/SUMS")
                try "\(Self.content.digest("md5")) *a.bin\n\(Self.content.sha256)  c.bin\n"
                    .write(toFile: list, atomically: false, encoding: .utf8)
                #expect(try await sandbox.run("verify", "--checksum-file", list, "./a.bin").ending == .exited(0))
                let several = try await sandbox.run("verify", "--checksum-file", list, "a.bin", "b.bin", "c.bin")
                #expect(several.ending == .exited(1))
                #expect(several.stdout == "a.bin: OK\nb.bin: FAILED\nc.bin: FAILED\n")
                #expect(several.stderr.contains("b.bin: \(list): it has no checksum for b.bin"), "\(several.stderr)")
                #expect(several.stderr.contains("dlm: c.bin: open: No such file or directory"), "\(several.stderr)")
                try Self.content.sha256.write(toFile: list, atomically: false, encoding: .utf8)
                #expect(try await sandbox.run("verify", "--checksum-file", list, "a.bin").ending == .exited(0))
                #expect(try await sandbox.run("verify", "--checksum-file", list, "b.bin").ending == .exited(9))
                #expect(
                    try await sandbox.run("verify", "--checksum", right, "--checksum-file", list, "a.bin").ending
                        == .exited(2))
            }
        }

        @Test("If a file is not a regular file, it is refused without waiting")
        func irregular() async throws {
            try await withDlm { sandbox in
                #expect(mkfifo(sandbox.file("pipe"), 0o600) == 0)
                let digest = "sha256:\(Self.content.sha256)"
                for path in ["pipe", ".", "/dev/zero", "/dev/null", "/dev/tty"] {
                    let result = try await sandbox.run("verify", "--checksum", digest, path)
                    #expect(result.ending == .exited(3), "\(path): \(result.stderr)")
                    #expect(result.stderr.hasPrefix("dlm: \(path): "), "\(path): \(result.stderr)")
                }
                #expect(try await sandbox.run("verify", "pipe").ending == .exited(3))
            }
        }

        @Test("Ctrl-C ends verify at once")
        func interrupted() async throws {
            try await withDlm { sandbox in
                // The file is sparse. Hashing this many bytes takes many minutes.
                #expect(FileManager.default.createFile(atPath: sandbox.file("huge"), contents: nil))
                #expect(truncate(sandbox.file("huge"), 1 << 40) == 0)
                let process = try sandbox.start("verify", "--checksum", "sha256:\(Self.content.sha256)", "huge")
                let opened = try await sandbox.ask(in: sandbox.files) {
                    ForeignProcess(process.pid)?.hasOpen(sandbox.file("huge")) ?? false
                } until: {
                    $0
                }
                #expect(opened)
                let begin = ContinuousClock.now
                try await process.expectEnd(by: SIGINT)
                #expect(ContinuousClock.now - begin < promised(within: .seconds(5)))
            }
        }

        @Test("A file is verified with the checksum of its newest download")
        func newest() async throws {
            let new = Content(seed: 101, size: 2 * mebibyte)
            try await withDlm(serving: Self.reply) { sandbox, server in
                let first = "sha256:\(Self.content.sha256)"
                #expect(try await sandbox.run("get", "--checksum", first, server.url()).ending == .exited(0))
                server.change(to: new)
                try await sandbox.done(
                    "get", "--if-exists", "overwrite", "--checksum", "md5:\(new.digest("md5"))", "-o", "file.bin",
                    server.url("/new"))
                #expect(try await sandbox.run("verify", "file.bin").ending == .exited(0))
                #expect(try await sandbox.run("verify", "2").ending == .exited(0))
                #expect(try await sandbox.run("verify", "1").ending == .exited(9))
                let both = try await sandbox.run("verify", "1-2")
                #expect(both.ending == .exited(9))
                #expect(both.outputLines.map { $0.hasSuffix("OK") } == [false, true])
            }
        }
    }
}
