import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    /// Tests the failures in the rows of docs/exit-status.md. Other suites test the rest: certificates (5) in
    /// TLSFaultTests, unknown IDs (10) and sessions (12) in OwnerTests, and signals in SignalTests.
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
    }
}
