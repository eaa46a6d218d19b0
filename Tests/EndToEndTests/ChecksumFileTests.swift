import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Checksum files", .serialized, .timeLimit(.minutes(3)))
    struct ChecksumFileTests {
        static let content = Content(seed: 95, size: 300_000)
        static let other = Content(seed: 96, size: 300_000)

        /// A format of checksum lists, with a function that returns the lines of one file in this format.
        struct Format: Sendable, CustomStringConvertible {
            let description: String
            let text: @Sendable (_ content: Content, _ name: String) -> String
        }

        static let formats = [
            Format(description: "GNU") { "\($0.sha256)  \($1)\n\(other.digest("sha256", upTo: 9))  else\n" },
            Format(description: "GNU, binary") { "\($0.digest("sha512")) *./iso/\($1)\n" },
            Format(description: "GNU, escaped") { "\\\($0.digest("md5"))  a\\\\b\n\($0.digest("md5"))  \($1)\n" },
            Format(description: "BSD") { "# by hand\nSHA256 (\($1)) = \($0.sha256.uppercased())\n" },
            Format(description: "OpenSSL") { "SHA2-512(\($1))= \($0.digest("sha512"))\r\n" },
            Format(description: "bare") { content, _ in "\(content.digest("sha1"))\n" },
            Format(description: "signed") {
                "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\n\($0.sha256)  \($1)\n"
                    + "-----BEGIN PGP SIGNATURE-----\n\niQ==\n-----END PGP SIGNATURE-----\n"
            },
        ]

        static func write(_ text: String, _ sandbox: DlmSandbox, _ name: String = "SUMS") throws -> String {
            let path = sandbox.root(name)
            try text.write(toFile: path, atomically: false, encoding: .utf8)
            return path
        }

        @Test(
            "A list in a file: a right checksum completes the download, and a wrong one gives exit status 9",
            arguments: [true, false])
        func files(isRight: Bool) async throws {
            try await concurrently(FaultTrial.short(Self.formats, each: 3), atMost: 4) { format in
                let trial = FaultTrial(
                    area: .digest, fault: "--checksum-file FILE (\(format)), \(isRight ? "right" : "wrong")")
                try await withDlm(serving: FaultReply(Self.content)) { sandbox, server in
                    // ``FaultTrial`` reports stray files in `home` and in the root folder, so the list is in `config`.
                    let list = sandbox.root("config/SUMS")
                    let text = format.text(isRight ? Self.content : Self.other, "file.bin")
                    try text.write(toFile: list, atomically: false, encoding: .utf8)
                    let result = try await sandbox.perform("get", "--checksum-file", list, server.url())
                    try trial.judge(
                        result, in: sandbox, right: isRight ? [Self.content] : [], errors: isRight ? [] : [9])
                    if isRight {
                        #expect(try await DigestFaultTests.verifiedBy(sandbox)[1] == "user")
                    } else {
                        #expect(sandbox.names == ["file.bin.part"])
                        #expect(result.stderr.contains("checksum does not match"), "\(result.stderr)")
                    }
                }
            }
        }

        @Test("A checksum list works on a resume and with several connections", arguments: [1, 4], [true, false])
        func resumed(connections: Int, isRight: Bool) async throws {
            let content = Content(seed: 97, size: 9 * mebibyte)
            let trial = FaultTrial(
                area: .digest, fault: "--checksum-file FILE, \(isRight ? "right" : "wrong")", moment: .resume,
                connections: connections)
            let slow = FaultReply(content, etag: "\"v1\"").with {
                $0.bytesPerSecond = Int(16 * mebibyte) / connections
            }
            try await withDlm(serving: slow) { sandbox, server in
                let list = sandbox.root("config/SUMS")
                try "\(isRight ? content.sha256 : Self.other.sha256)  file.bin"
                    .write(toFile: list, atomically: false, encoding: .utf8)
                _ = try await sandbox.performInterrupted(
                    "get", "-x", "\(connections)", "--checksum-file", list, server.url(), after: 3 * mebibyte,
                    from: server)
                // The checksum of the list is recorded, so the list is not needed any more.
                try FileManager.default.removeItem(atPath: list)
                let result = try await sandbox.perform("resume", try await sandbox.onlyID())
                try trial.judge(result, in: sandbox, right: isRight ? [content] : [], errors: isRight ? [] : [9])
            }
        }

        @Test(
            "Each URL has its own line in the list; a file without a line gives exit status 9 and is not kept")
        func several() async throws {
            try await withDlm({ request in
                FaultReply(request.target.hasPrefix("/a") ? Self.content : Self.other)
            }) { sandbox, server in
                let list = try Self.write("\(Self.content.sha256)  a\n\(Self.other.sha256)  b\n", sandbox)
                try await sandbox.performDone("get", "--checksum-file", list, server.url("/a"), server.url("/b"))
                #expect(sandbox.names == ["a", "b"])
                let unlisted = try await sandbox.perform("get", "--checksum-file", list, server.url("/c"))
                #expect(unlisted.ending == .exited(9), "\(unlisted.stderr)")
                #expect(unlisted.stderr.contains("/SUMS: it has no checksum for c"), "\(unlisted.stderr)")
                #expect(sandbox.names == ["a", "b"])
                let bare = try Self.write(Self.content.sha256, sandbox, "BARE")
                let two = try await sandbox.perform("get", "--checksum-file", bare, server.url("/d"), server.url("/e"))
                expectFailure(9, of: two)
                let urls = try Self.write("\(server.url("/a2"))\n\(server.url("/b"))\n", sandbox, "urls")
                let more = try Self.write("\(Self.other.sha256)  a2\n\(Self.other.sha256)  b\n", sandbox, "MORE")
                let listed = try await sandbox.perform(
                    "get", "--if-exists", "overwrite", "--checksum-file", more, "-i", urls)
                #expect(listed.ending == .exited(9), "\(listed.stderr)")
                #expect(sandbox.names == ["a", "a2.part", "b"])
            }
        }

        @Test("A name that only the server gives is looked up in the list", arguments: [true, false])
        func served(isListed: Bool) async throws {
            let list = "\(Self.content.sha256)  \(isListed ? "real.iso" : "unreal.iso")\n\(Self.other.sha256)  else\n"
            try await withDlm({ request in
                request.target == "/redirected"
                    ? .redirect(to: "/real.iso?x=1")
                    : FaultReply(Self.content).with {
                        if request.target == "/named" {
                            $0.fields.append(("Content-Disposition", "attachment; filename=\"real.iso\""))
                        }
                    }
            }) { sandbox, server in
                let sums = try Self.write(list, sandbox)
                for (target, name) in [("/named", nil), ("/redirected", nil), ("/named", "mine.iso")] {
                    let output = name.map { ["-o", $0] } ?? []
                    let result = try await sandbox.perform(
                        ["get", "--if-exists", "overwrite", "--checksum-file", sums] + output + [server.url(target)])
                    if isListed {
                        try expectDownloaded(Self.content, as: name ?? "real.iso", by: result, in: sandbox, target)
                    } else {
                        expectFailure(9, of: result, target)
                        #expect(sandbox.names.isEmpty, "\(target)")
                    }
                }
                // The background session gets the list with the download.
                let id = try await sandbox.done(
                    "get", "-b", "-d", "later", "--checksum-file", sums, server.url("/named"))
                let waited = try await sandbox.perform("wait", id.stdout.trimmingCharacters(in: .newlines))
                #expect(waited.ending == .exited(isListed ? 0 : 9), "\(waited.stderr)")
                #expect(sandbox.exists("later/real.iso") == isListed)
                _ = try await sandbox.run("daemon", "stop")
            }
        }

        @Test("An unusable list is a clear error before anything is fetched")
        func unusable() async throws {
            let digest = Self.content.sha256
            try await withDlm({ request in
                switch request.target {
                case "/gone": FaultReply(status: 404)
                case "/login": FaultReply(Content("<html>\(digest)</html>"))
                case "/endless": FaultReply(Content(seed: 1, size: 1 << 30)).with { $0.framing = .chunked }
                case "/local": .redirect(to: "file:///etc/passwd")
                case "/cut": FaultReply(Content("\(digest)  file.bin\n")).with { $0.cut = .close(after: 70) }
                default: FaultReply(Self.content)
                }
            }) { sandbox, server in
                let cases: [(String, status: Int32, String)] = [
                    (server.url("/gone"), 8, "404"), (server.url("/login"), 9, "no checksum in it"),
                    (server.url("/endless"), 9, "more than 1048576 bytes"), (server.url("/local"), 7, "scheme file"),
                    (server.url("/cut"), 4, "/cut"), ("missing", 3, "missing: open: No such file"),
                    (".", 3, ".: read: Is a directory"), ("/dev/zero", 9, "too large"),
                    ("/dev/null", 9, "no checksum in it"), ("gopher://127.0.0.1/SUMS", 2, "unsupported scheme"),
                    (
                        try Self.write("\(digest)  file.bin\n\(Self.other.sha256)  file.bin\n", sandbox), 9,
                        "2 different"
                    ),
                    (try Self.write("\(digest)  file.bin\n", sandbox, "B2SUMS"), 9, "BLAKE2"),
                ]
                for (list, status, text) in cases {
                    let result = try await sandbox.perform(
                        "get", "--retries", "1", "--retry-delay", "0", "--checksum-file", list, server.url())
                    expectFailure(status, of: result, list)
                    #expect(result.stderr.contains(text), "\(list): \(result.stderr)")
                    #expect(sandbox.names.isEmpty, "\(list)")
                }
                #expect(!server.log.entries.contains { $0.request.target == "/file.bin" })
            }
        }

        @Test("Secrets are sent with the request for a list only if the list has the same origin as the file")
        func secrets() async throws {
            let text = Content("\(Self.content.sha256)  file.bin\n")
            try await withDlm(serving: FaultReply(text)) { sandbox, foreign in
                let server = try FaultServer { request in
                    FaultReply(request.target == "/SUMS" ? text : Self.content)
                }
                for list in [server.url("/SUMS"), foreign.url("/SUMS")] {
                    let result = try await sandbox.perform(
                        "get", "--if-exists", "overwrite", "-H", "Authorization: Bearer s3cret", "--checksum-file",
                        list, server.url())
                    try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox)
                }
                #expect(server.log.entries.allSatisfy { $0.request["Authorization"] == "Bearer s3cret" })
                #expect(server.log.entries.contains { $0.request.target == "/SUMS" })
                #expect(foreign.log.entries.map { $0.request["Authorization"] } == [nil])
            }
        }

        @Test("A command that joins a running download with its own checksum learns whether this checksum matches")
        func joined() async throws {
            let (right, wrong) = ("sha256:\(Self.content.sha256)", "sha256:\(Self.other.sha256)")
            // The download is slow, so that the other commands join it long before its end.
            let slow = FaultReply(Self.content, etag: "\"v1\"").with { $0.bytesPerSecond = 40_000 }
            try await withDlm(serving: slow) { sandbox, server in
                let first = try sandbox.start("get", server.url())
                #expect(await server.waitUntil { $0.bytesSent > 10_000 })
                let handed = try await sandbox.run("get", "-b", "--checksum", right, server.url())
                expectFailure(9, of: handed)
                #expect(handed.stderr.contains("1: this file is already being downloaded without this checksum"))
                let others = try [right, wrong].map {
                    try sandbox.start("get", "--json", "--checksum", $0, server.url())
                }
                for (other, isRight) in zip(others, [true, false]) {
                    let result = try await other.result()
                    #expect(result.ending == .exited(isRight ? 0 : 9), "\(result.stderr)")
                    #expect(result.outputLines.last?.contains(#""checksum":"\#(right)""#) == isRight)
                    #expect(result.outputLines.last?.contains(#""reason":"checksum""#) == !isRight)
                    #expect(result.stderr.contains("checksum does not match") == !isRight)
                }
                #expect(try await first.result().ending == .exited(0))
                #expect(server.log.entries.count == 1)
            }
        }

        @Test("With --if-exists skip, the existing file must match the checksum", arguments: [true, false])
        func leftAlone(isRight: Bool) async throws {
            try await withDlm(serving: FaultReply(Self.other)) { sandbox, server in
                try Self.content.write(to: sandbox.file("file.bin"))
                let digest = (isRight ? Self.content : Self.other).sha256
                let list = try Self.write("\(digest)  file.bin\n", sandbox)
                for (arguments, target) in [
                    (["--checksum", "sha256:\(digest)"], "/file.bin"), (["--checksum-file", list], "/file.bin"),
                    (["--checksum-file", list, "-o", "file.bin"], "/latest"),
                ] {
                    let result = try await sandbox.perform(
                        ["get", "--if-exists", "skip"] + arguments + [server.url(target)])
                    #expect(result.ending == .exited(isRight ? 0 : 9), "\(arguments) \(result.stderr)")
                    #expect(try sha256(of: sandbox.file("file.bin")) == Self.content.sha256)
                    #expect(sandbox.names == ["file.bin"])
                }
            }
        }

        @Test("A list can come from standard input")
        func standardInput() async throws {
            try await withDlm(serving: FaultReply(Self.content)) { sandbox, server in
                let result = try await sandbox.perform("get", "--checksum-file", "-", server.url()) {
                    $0.input = "\(Self.content.sha256)  -\n"
                }
                try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox)
            }
        }
    }
}
