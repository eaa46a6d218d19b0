import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    /// Tests each row of docs/exit-status.md. Other suites test these statuses in detail: certificates (5) in
    /// TLSFaultTests, sessions (12) in OwnerTests, and single signals in SignalTests.
    @Suite("Exit statuses", .serialized, .timeLimit(.minutes(2)))
    struct ExitStatusTests {
        static let content = Content(seed: 740, size: 300_000)

        /// Returns the answer for a path. Each failure that an answer alone can cause has its own path; other paths
        /// have a good file.
        static func reply(_ request: FaultRequest) -> FaultReply {
            switch request.target {
            case "/401", "/407", "/403", "/404", "/500", "/503":
                FaultReply(status: Int(request.target.dropFirst()) ?? 0)
            case "/loop": .redirect(to: "/loop")
            case "/scheme": .redirect(to: "gopher://127.0.0.1/x")
            case "/nowhere": FaultReply(status: 302)
            case "/noise": FaultReply().with { $0.raw = .init("what is this?\r\n\r\n") }
            case "/lost": FaultReply(content).with { $0.cut = .close(after: 1000) }
            case "/stall": FaultReply(content).with { $0.cut = .stall(after: 1000) }
            case "/endless":
                FaultReply(content).with {
                    $0.framing = .closeDelimited
                    $0.ranges = .ignored
                }
            case "/page": FaultReply(Content("<html>")).with { $0.fields = [("Content-Type", "text/html")] }
            default: FaultReply(content, etag: "\"v1\"")
            }
        }

        static let wrong = "sha256:" + String(repeating: "0", count: 64)

        @Test(
            "A failure gives its exit status and one line, and leaves no file under the final name",
            arguments: [
                (["--no-such-option", "/a"], 2), (["-x", "0", "/a"], 2), (["gopher://h.invalid/a"], 2),
                (["me@example.org/a"], 2), (["--checksum", "sha256:xyz", "/a"], 2), (["-H", "no colon", "/a"], 2),
                (["-o", "x", "/a", "/b"], 2), (["/a", "gopher://x/y"], 2), (["-d", "/etc/passwd/below", "/a"], 3),
                (["-o", "/usr", "/a"], 3),
                (["-d", "/proc/dlm", "/a"], 3), (["-o", String(repeating: "n", count: 251), "/a"], 2),
                (["-i", "/nonexistent"], 3), (["http://h.invalid/a"], 4), (["CLOSED/a"], 4), (["/lost"], 4),
                (["--stall-timeout", "0.3", "/stall"], 4), (["--max-time", "0.3", "/stall"], 4), (["TLS/a"], 5),
                (["/401"], 6), (["/407"], 6), (["/loop"], 7), (["/scheme"], 7), (["/nowhere"], 7), (["/noise"], 7),
                (["/403"], 8), (["/404"], 8), (["/500"], 8), (["/503"], 8), (["--checksum", wrong, "/a"], 9),
                (["--max-size", "1k", "/a"], 9), (["--expect-type", "image/*", "/page"], 9),
                (["--expect-status", "203", "/a"], 9), (["/endless"], 9),
                (["-o", "-", "/404"], 8), (["-o", "-", "/503"], 8),
            ] as [([String], Int32)])
        func single(arguments: [String], status: Int32) async throws {
            try await withDlm(Self.reply) { sandbox, server in
                let closed = try LoopbackSocket.unusedPort()
                let others = ["/usr", "/proc/dlm", "/nonexistent", "/etc/passwd/below"]
                let words = arguments.map { word in
                    let isPath = word.hasPrefix("/") && !others.contains(word)
                    return (isPath ? server.url(word) : word).replacing("CLOSED", with: "http://127.0.0.1:\(closed)")
                        .replacing("TLS", with: "https://127.0.0.1:\(server.port)")
                }
                let result = try await sandbox.run(["get", "--retries", "0"] + words)
                expectFailure(status, of: result, arguments)
                #expect(sandbox.names.allSatisfy { $0.hasSuffix(".part") }, "\(arguments) \(sandbox.names)")
            }
        }

        @Test(
            "2: wrong values and combinations of options are refused before a request is sent",
            arguments: [
                (["-4", "-6"], ""), (["--http1.1", "--http2"], ""), (["--resolve", "a:b"], ""),
                (["--resolve", "a:80:name"], ""), (["--resolve", "a:0:127.0.0.1"], ""), (["--proxy", "ftp://h"], ""),
                (["--proxy", "http://:80"], ""), (["--proxy", "h:99999"], ""), (["--doh-url", "http://h/"], ""),
                (["--doh-url", "x"], ""), (["--interface", ""], ""),
                (["--mirror", "ftp://h/a"], ""), (["--mirror", "http://ann:x@h/a"], ""), (["--mirror", ""], ""),
                (["--mirror", "http://h/a", "-X", "POST"], ""), (["--mirror", "http://h/a", "--compressed"], ""),
                (["--mirror", "http://h/a", "-o", "-"], ""), (["--mirror", "http://h/a", "http://h/2"], ""),
                (["-X", "HEAD"], ""), (["-X", "a b"], ""), (["-X", ""], ""), (["--query", "novalue"], ""),
                (["-A", "a\nb"], ""), (["-e", "a\rb"], ""), (["--data", "@"], ""),
                (["--data", "@-", "--checksum-file", "-"], ""),
                (["--at", "noon"], "--at"), (["--at", "25:00"], "--at"), (["--window", "01:00"], "--window"),
                (["--window", "Foo 01:00-02:00"], "--window"), (["--wait", "-1"], "--wait"),
                (["--wait", "soon"], "--wait"),
                (["-o", "-", "-b"], ""), (["-o", "-", "--json"], ""), (["-o", "-", "--spool", "7M"], ""),
                (["--spool", "8M"], ""),
                (["-o", "-", "-d", "x"], ""), (["-o", "-", "-c"], ""), (["-o", "-", "--paused"], ""),
                (["-o", "-", "http://127.0.0.1:1/b"], ""), (["-o", "-", "-i", "-"], ""),
            ] as [([String], String)])
        func refused(options: [String], named: String) async throws {
            try await withDlm(Self.reply) { sandbox, server in
                let result = try await sandbox.run(["get"] + options + [server.url("/a")])
                expectFailure(2, of: result, options)
                #expect(named.isEmpty || result.stderr.contains(named), "\(result.stderr)")
                #expect(server.log.connections == 0)
                #expect(try await sandbox.list().isEmpty)
            }
        }

        @Test("0: all files are complete and verified, or already were; wait gives the status of background downloads")
        func success() async throws {
            try await withDlm(Self.reply) { sandbox, server in
                let command = ["get", "--checksum", "sha256:\(Self.content.sha256)", server.url("/a")]
                for _ in 0..<2 {
                    try await sandbox.expectDownloaded(Self.content, as: "a", byProcess: command)
                }
                try await sandbox.hand([server.url("/b")])
                #expect(try await sandbox.run("wait", "2").ending == .exited(0))
                for option in ["--help", "--version"] { try await sandbox.done(option) }
            }
        }

        @Test(
            "Failures of one kind give the status of this kind, and failures of several kinds give 1",
            arguments: [
                (["/404", "/500"], 8), (["/a", "/404"], 8), (["/404", "/401"], 1), (["/lost", "/404", "/a"], 1),
                (["/loop", "/noise", "/a"], 7), (["/a", "/b"], 0),
            ] as [([String], Int32)])
        func several(paths: [String], status: Int32) async throws {
            try await withDlm(Self.reply) { sandbox, server in
                let urls = paths.map { server.url($0) }
                let good = paths.filter { ["/a", "/b"].contains($0) }
                let listed = try await sandbox.run("get", "--retries", "0", "-d", "l", "-i", "-") {
                    $0.input = urls.joined(separator: "\n")
                }
                for result in [
                    try await sandbox.run(["get", "--retries", "0"] + urls), listed,
                ] {
                    #expect(result.ending == .exited(status), "\(paths) \(result.stderr)")
                    #expect(result.outputLines.count == good.count)
                    #expect(result.errorLines.count == paths.count - good.count, "each says why: \(result.stderr)")
                }
                let ids = try await sandbox.list().map { "\($0.id)" }
                let wait = try await sandbox.run(["wait"] + ids)
                #expect(wait.ending == .exited(status), "\(wait.stderr)")
            }
        }

        @Test(
            "wait and resume end with the status of the download", arguments: [("/404", 8), ("/401", 6), ("/lost", 4)])
        func followers(path: String, status: Int32) async throws {
            try await withDlm(Self.reply) { sandbox, server in
                let get = try await sandbox.run("get", "-b", "--retries", "0", server.url(path))
                #expect(get.ending == .exited(0), "get -b only reports that the download was added")
                #expect(try await sandbox.run("wait", "1").ending == .exited(status))
                _ = try await sandbox.run("get", "--retries", "0", "-o", "here", server.url(path))
                #expect(try await sandbox.run("resume", "2").ending == .exited(status))
                #expect(try await sandbox.run("wait", "2").ending == .exited(status))
            }
        }

        @Test(
            "10: if an ID does not exist, the command changes no download",
            arguments: ["pause", "resume", "cancel", "remove", "verify"])
        func unknown(verb: String) async throws {
            try await withDlm(Self.reply) { sandbox, server in
                try await sandbox.done("get", "-b", "--paused", server.url("/a"))
                expectFailure(10, of: try await sandbox.run(verb, "1", "99"), verb)
                #expect(try await sandbox.list().map(\.state) == ["paused"])
            }
        }

        @Test("11: cancelled by another command; 12: no home, or no store")
        func cancelled() async throws {
            try await withDlm(Self.reply) { sandbox, server in
                let get = try sandbox.start("get", "--paused", server.url("/a"))
                await get.expectSays("1: a: paused")
                try await sandbox.done("cancel", "1")
                #expect(try await get.result().ending == .exited(11))
                let homeless = try await sandbox.run("get", server.url("/a")) { $0.environment = ["HOME": "nowhere"] }
                expectFailure(12, of: homeless)
                #expect(homeless.stderr.contains("HOME"), "\(homeless.stderr)")
                let blocked = try await sandbox.run("list") { $0.environment["XDG_STATE_HOME"] = "/proc/none" }
                expectFailure(12, of: blocked)
            }
        }

        @Test("129, 130, 143: the signal itself ends dlm", arguments: [SIGHUP, SIGINT, SIGTERM])
        func signals(signal: Int32) async throws {
            try await withDlm(Self.reply) { sandbox, server in
                let shell = try sandbox.startShell("$dlm get \(server.url("/stall")); echo $?", shell: "/bin/bash")
                #expect(await server.waitUntil { $0.bytesSent >= 1000 })
                try #require(sandbox.process(running: "get\0http")).send(signal)
                #expect(try await shell.result().stdout == "\(128 + signal)\n")
            }
        }

        @Test("A closed standard output is not an error for commands that only report")
        func closedOutput() async throws {
            try await withDlm(Self.reply) { sandbox, server in
                _ = try await sandbox.run("get", server.url("/a"), server.url("/b"))
                let script = "set -o pipefail; $dlm list --all | true; echo $?; $dlm list --all >&-; echo $?"
                #expect(try await sandbox.runShell(script, shell: "/bin/bash").stdout == "0\n0\n")
            }
        }
    }
}
