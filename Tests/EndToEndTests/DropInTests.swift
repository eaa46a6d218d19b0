import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    /// Tests of dlm under the names of other programs.
    @Suite("dlm in place of aria2c, wget and curl", .serialized, .timeLimit(.minutes(2)))
    struct DropInTests {
        static let content = Content(seed: 250, size: 300_000)

        static func reply(_ request: FaultRequest) -> FaultReply {
            switch request.target {
            case "/404", "/503", "/401": FaultReply(status: Int(request.target.dropFirst()) ?? 0)
            case "/moved": .redirect(to: "/a")
            case "/text": FaultReply(Content("hello\n"))
            default: FaultReply(content, etag: "\"v1\"").with { $0.lastModified = "Tue, 03 Mar 2020 10:00:00 GMT" }
            }
        }

        /// Creates a folder with links to dlm, like the folder in the Debian package.
        static func links(in sandbox: DlmSandbox) throws -> String {
            let folder = try sandbox.root.makeFolder("links")
            for name in ["aria2c", "wget", "curl"] {
                try FileManager.default.createSymbolicLink(
                    atPath: "\(folder)/\(name)", withDestinationPath: DlmSandbox.binary)
            }
            return folder
        }

        private func run(
            _ program: String, _ arguments: [String], _ sandbox: DlmSandbox
        ) async throws -> ChildProcess.Result {
            let folder = try Self.links(in: sandbox)
            defer { try? FileManager.default.removeItem(atPath: folder) }
            return try await sandbox.run(arguments) { $0.executable = "\(folder)/\(program)" }
        }

        @Test(
            "The file is downloaded with status 0, and nothing is printed to standard output",
            arguments: [
                ("aria2c", ["-c", "-x4", "-s4", "-k1M", "-d", ".", "-o", "f", "/a"]),
                ("aria2c", ["--no-conf", "--allow-overwrite=true", "--out", "./f", "--", "/a"]),
                ("wget", ["-O", "f", "/a"]), ("wget", ["-nv", "-c", "-O", "f", "/moved"]),
                ("curl", ["-fL", "-C", "-", "-o", "f", "/moved"]), ("curl", ["-qgb", "", "-fLo", "f", "/a"]),
            ])
        func file(program: String, arguments: [String]) async throws {
            try await withDlm(Self.reply) { sandbox, server in
                let words = arguments.map { $0.hasPrefix("/") ? server.url($0) : $0 }
                let result = try await run(program, words, sandbox)
                #expect(result.ending == .exited(0), "\(result.stderr)")
                #expect(result.stdout == "")
                try expectFile(Self.content, "f", in: sandbox, arguments)
                #expect(sandbox.names == ["f"])
                let isDated = try sandbox.modified("f")?.timeIntervalSince1970 == 1_583_229_600
                #expect(isDated == (program == "wget"))
            }
        }

        @Test("wget keeps an existing file and numbers the new one, and curl and wget -O replace it")
        func taken() async throws {
            try await withDlm(Self.reply) { sandbox, server in
                try sandbox.root.write("mine", to: "files/a")
                _ = try await run("wget", ["-q", server.url("/a")], sandbox)
                #expect(try sandbox.root.read("files/a") == "mine")
                #expect(sandbox.names.count == 2)
                _ = try await run("curl", ["-sO", server.url("/a")], sandbox)
                try expectFile(Self.content, "a", in: sandbox)
            }
        }

        @Test(
            "Standard output contains only the file",
            arguments: [("wget", ["-qO-"]), ("curl", ["-fsSL"]), ("curl", [])])
        func stream(program: String, arguments: [String]) async throws {
            try await withDlm(Self.reply) { sandbox, server in
                let result = try await run(program, arguments + [server.url("/text")], sandbox)
                #expect(result.ending == .exited(0), "\(result.stderr)")
                #expect(result.stdout == "hello\n")
                #expect(sandbox.names.isEmpty)
            }
        }

        @Test("Only the URL after -o /dev/null is discarded, and the next one is printed; wget -O - joins several URLs")
        func discarded() async throws {
            try await withDlm(Self.reply) { sandbox, server in
                let urls = [server.url("/a"), server.url("/text")]
                let result = try await run("curl", ["-s", "-o", "/dev/null"] + urls, sandbox)
                #expect(result.ending == .exited(0), "\(result.stderr)")
                #expect(result.stdout == "hello\n")
                let joined = try await run("wget", ["-qO-", urls[1], urls[1]], sandbox)
                #expect(joined.stdout == "hello\nhello\n", "\(joined.stderr)")
            }
        }

        @Test(
            "A failure ends with the status that aria2c, wget or curl would have, and prints one line",
            arguments: [
                ("aria2c", ["-m1", "-o", "f", "/404"], 3), ("aria2c", ["-m1", "-o", "f", "/503"], 29),
                ("aria2c", ["--frobnicate", "/a"], 28), ("aria2c", ["-o", "f", "/401"], 24),
                ("aria2c", ["--checksum=md5=00112233445566778899aabbccddeeff", "-o", "f", "/a"], 32),
                ("aria2c", ["--auto-file-renaming=false", "-o", "taken", "/a"], 13),
                ("wget", ["-t1", "-O", "f", "/404"], 8), ("wget", ["-t1", "-O", "f", "CLOSED/a"], 4),
                ("wget", ["--recursive", "/a"], 2), ("curl", ["-sfo", "f", "/404"], 22),
                ("curl", ["--retry", "0", "-so", "f", "CLOSED/a"], 7), ("curl", ["-so", "f", "/moved"], 47),
                ("curl", ["-so", "/proc/nowhere/f", "/a"], 23), ("curl", ["-o", "f", "gopher://127.0.0.1/a"], 1),
            ] as [(String, [String], Int32)])
        func failure(program: String, arguments: [String], status: Int32) async throws {
            try await withDlm(Self.reply) { sandbox, server in
                try sandbox.root.write("mine", to: "files/taken")
                let closed = try LoopbackSocket.unusedPort()
                let words = arguments.map { word in
                    (word.hasPrefix("/") && !word.hasPrefix("/proc") ? server.url(word) : word)
                        .replacing("CLOSED", with: "http://127.0.0.1:\(closed)")
                }
                let result = try await run(program, words, sandbox)
                expectFailure(status, of: result, arguments)
                #expect(!sandbox.exists("f"))
            }
        }

        @Test(
            "aria2c with yt-dlp's options completes the file in one run, although its connection is cut twice"
        )
        func cut() async throws {
            let content = Content(seed: 251, size: 3 << 20)
            let script: FaultServer.Handler = { request in
                FaultReply(content, etag: "\"v1\"").with { if request.number <= 2 { $0.cut = .close(after: 1 << 20) } }
            }
            try await withDlm(script) { sandbox, server in
                let result = try await run(
                    "aria2c",
                    [
                        "--no-conf", "-x1", "-s1", "--retry-wait", "0.1", "--allow-overwrite=true",
                        "--auto-file-renaming=false", "--out", "./v [v].mp4.part", "--", server.url("/v"),
                    ], sandbox)
                #expect(result.ending == .exited(0), "\(result.stderr)")
                try expectFile(content, "v [v].mp4.part", in: sandbox)
                #expect(server.log.entries.count >= 3)
            }
        }

        @Test("Passwords in options of other programs are hidden from other users of the machine")
        func secrets() async throws {
            let gate = Gate(after: 1000)
            try await withDlm({ _ in FaultReply(Self.content).with { $0.gate = gate } }) { sandbox, server in
                let folder = try Self.links(in: sandbox)
                let words = ["--http-user=u", "--http-passwd=hunter2", "-o", "f", server.url("/a")]
                let process = try sandbox.start(words) { $0.executable = "\(folder)/aria2c" }
                _ = await server.waitUntil { !$0.entries.isEmpty }
                let line = try String(
                    decoding: Data(contentsOf: URL(filePath: "/proc/\(process.pid)/cmdline")), as: UTF8.self)
                #expect(line.contains("--http-passwd=*******") && !line.contains("hunter2"))
                gate.open()
                #expect(try await process.result().ending == .exited(0))
            }
        }
    }
}
