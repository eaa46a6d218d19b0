import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Options of the request", .serialized, .timeLimit(.minutes(2)))
    struct RequestOptionTests {
        static let content = Content(seed: 730, size: 9 * mebibyte + 3)
        static var file: FaultReply { FaultReply(content, etag: "\"v1\"") }

        @Test("-A and -e are sent on every connection, and also to another origin; an empty -A sends no User-Agent")
        func agentAndReferer() async throws {
            let other = try FaultServer { _ in Self.file }
            let target = other.url()
            try await withDlm({ _ in .redirect(to: target) }) { sandbox, server in
                let result = try await sandbox.perform(
                    "get", "-x", "4", "-A", "Mozilla/5.0 (X11)", "-e", "http://ann:pw@from.example/page?a=b#c",
                    server.url())
                try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox)
                let entries = server.log.entries + other.log.entries
                #expect(entries.count > 4)
                for entry in entries {
                    #expect(entry.request["User-Agent"] == "Mozilla/5.0 (X11)")
                    #expect(entry.request["Referer"] == "http://from.example/page?a=b")
                }
            }
            try await withDlm(serving: Self.file) { sandbox, server in
                try await sandbox.expectDownloaded(Self.content, by: "get", "-A", "", server.url())
                #expect(server.log.entries[0].request["User-Agent"] == nil)
                #expect(server.log.entries[0].request["Referer"] == nil)
            }
        }

        @Test("--query is appended to the query, percent-encoded and in order, and not to the URL of a redirect")
        func query() async throws {
            try await withDlm({ request in
                request.target.hasPrefix("/start") ? .redirect(to: "/file.bin?x=1") : Self.file
            }) { sandbox, server in
                let result = try await sandbox.perform(
                    "get", "--query", "b=1 & 2", "--query", "a=ä/?=", "--query", "empty=", server.url("/start?z=0"))
                try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox)
                #expect(
                    server.log.entries.first?.request.target == "/start?z=0&b=1%20%26%202&a=%C3%A4%2F%3F%3D&empty=")
                #expect(server.log.entries.dropFirst().allSatisfy { $0.request.target == "/file.bin?x=1" })
            }
        }

        @Test(
            "--data sends a form by POST, --data-urlencode encodes, @ reads files, and -X and -H override",
            arguments: [
                (["--data", "a=1", "--data", "b=%20"], "POST", "a=1&b=%20"),
                (["--data", "@body"], "POST", "line1line2"),
                (["--data", "@-"], "POST", "from input"),
                (
                    ["--data-urlencode", "q=a b&c", "--data-urlencode", "=x=y", "--data-urlencode", "plain é"], "POST",
                    "q=a%20b%26c&x%3Dy&plain%20%C3%A9"
                ),
                (["--data-urlencode", "f@body"], "POST", "f=line1%0D%0Aline2%0A"),
                (["-X", "PUT", "--data", "{}", "-H", "Content-Type: application/json"], "PUT", "{}"),
                (["-X", "get", "--data", "{}"], "GET", "{}"), (["-X", "POST"], "POST", ""),
                (["-X", "PROPFIND"], "PROPFIND", ""),
            ] as [([String], String, String)])
        func body(options: [String], method: String, body: String) async throws {
            try await withDlm(serving: Self.file) { sandbox, server in
                try sandbox.root.write("line1\r\nline2\n", to: "files/body")
                let result = try await sandbox.run(["get"] + options + [server.url()]) { $0.input = "from input\n" }
                try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox)
                let entry = try #require(server.log.entries.first)
                #expect(server.log.entries.count == 1)
                #expect(entry.request.method == method)
                #expect(String(decoding: entry.request.body, as: UTF8.self) == body)
                #expect(entry.range == nil)
                let type = options.contains("-H") ? "application/json" : "application/x-www-form-urlencoded"
                #expect(entry.request["Content-Type"] == (body.isEmpty ? nil : type))
            }
        }

        @Test(
            "A redirect changes a POST to a GET or keeps it, as HTTP says; the body is sent to no other origin",
            arguments: [301, 302, 303, 307, 308], ["POST", "PUT"])
        func redirected(status: Int, method: String) async throws {
            let other = try FaultServer { _ in Self.file }
            let elsewhere = other.url()
            try await withDlm({ request in
                switch request.target {
                case "/here": .redirect(to: "/file.bin", status: status)
                case "/there": .redirect(to: elsewhere, status: status)
                default: Self.file
                }
            }) { sandbox, server in
                let becomesGet = status == 303 || status < 303 && method == "POST"
                let words = ["get", "-X", method, "--data", "a=secret", "--retries", "0"]
                try await sandbox.expectDownloaded(Self.content, by: words + [server.url("/here")])
                let last = try #require(server.log.entries.last?.request)
                #expect(last.method == (becomesGet ? "GET" : method))
                #expect(last.body == (becomesGet ? [] : Array("a=secret".utf8)))
                #expect(last["Content-Type"] == (becomesGet ? nil : "application/x-www-form-urlencoded"))
                let away = try await sandbox.perform(words + ["-o", "away", server.url("/there")])
                if becomesGet {
                    try expectDownloaded(Self.content, as: "away", by: away, in: sandbox)
                    #expect(other.log.entries.first?.request.method == "GET")
                } else {
                    expectFailure(7, of: away)
                    #expect(other.log.entries.isEmpty)
                }
            }
        }

        @Test(
            "A request that may have reached the server is repeated only if its method is safe or idempotent",
            arguments: [("POST", 1), ("PATCH", 1), ("PUT", 2), ("GET", 2)])
        func repeated(method: String, requests: Int) async throws {
            try await withDlm({ request in
                Self.file.with { if request.number == 1 { $0.cut = .reset(after: mebibyte) } }
            }) { sandbox, server in
                let result = try await sandbox.perform(
                    "get", "-X", method, "--data", "a=1", "--retry-delay", "0", server.url())
                #expect(server.log.entries.count == requests)
                for entry in server.log.entries { #expect(entry.range == nil) }
                if requests > 1 {
                    try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox)
                } else {
                    expectFailure(4, of: result)
                    #expect(!sandbox.exists("file.bin"))
                }
            }
        }

        @Test("A POST that never reached a server is tried again; once a server listens, it gets exactly one POST")
        func unreached() async throws {
            try await withDlm { sandbox in
                let port = try LoopbackSocket.unusedPort()
                let get = try sandbox.start(
                    "get", "--data", "a=1", "--retries", "100000", "--retry-delay", "0.01", "-v",
                    "http://127.0.0.1:\(port)/file.bin")
                #expect(
                    await get.waitForOutput { $0.errorText.split(separator: "\n").count { $0.contains("retry") } >= 2 })
                let server = try FaultServer(port: port) { _ in Self.file }
                try expectDownloaded(Self.content, as: "file.bin", by: try await get.result(), in: sandbox)
                #expect(server.log.entries.map(\.request.method) == ["POST"])
                #expect(server.log.entries.first?.request.body == Array("a=1".utf8))
            }
        }

        @Test("The body is never stored: resume needs it again, sends it again, and never mixes two answers")
        func resumed() async throws {
            let second = Content(seed: 731, size: 9 * mebibyte + 3)
            try await withDlm({ request in
                request.number == 1 ? Self.file.with { $0.cut = .stall(after: 2 * mebibyte) } : FaultReply(second)
            }) { sandbox, server in
                let secret = "password=\(SecretSearch.password)"
                let killed = try sandbox.start(["get", "--data", secret, server.url()])
                #expect(await server.waitUntil { $0.bytesSent >= 2 * mebibyte })
                try await sandbox.waitToShow(1) { $0.received >= mebibyte }
                let search = SecretSearch(sandbox: sandbox)
                try search.expectNoTrace("running")
                try await search.askAll("running")
                try await killed.killed()
                try search.expectNoTrace("killed")
                let without = try await sandbox.perform("resume", "1")
                expectFailure(2, of: without)
                #expect(without.stderr.contains("dlm resume 1 --data DATA"), "\(without.stderr)")
                let result = try await sandbox.perform("resume", "1", "--data", secret)
                try expectDownloaded(second, as: "file.bin", by: result, in: sandbox)
                #expect(result.stderr.contains("POST"), "\(result.stderr)")
                #expect(server.log.entries.map(\.request.method) == ["POST", "POST"])
                #expect(server.log.entries[1].request.body == Array(secret.utf8))
                search.expectSilent(result)
            }
        }

        @Test("A POST does not join a running download of the same URL, and fails if that download has its file name")
        func notJoined() async throws {
            try await withDlm({ request in
                Self.file.with { if request.number == 1 { $0.cut = .stall(after: mebibyte) } }
            }) { sandbox, server in
                let first = try sandbox.start(["get", "--data", "a=1", server.url()])
                #expect(await server.waitUntil { $0.bytesSent >= mebibyte })
                try await sandbox.waitToShow(1) { $0.received > 0 }
                expectFailure(3, of: try await sandbox.perform("get", "--data", "a=2", "--retries", "0", server.url()))
                #expect(server.log.entries.count == 2)
                first.send(SIGINT)
                _ = try await first.result()
            }
        }
    }
}
