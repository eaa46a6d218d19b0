import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Secrets", .serialized, .timeLimit(.minutes(3)))
    struct SecretTests {
        static let content = Content(seed: 710, size: 3 * mebibyte + 5)

        /// A server that repeats the secrets of each request wherever it can.
        static let handler: FaultServer.Handler = { request in
            let sent = ["Authorization", "Cookie", "Proxy-Authorization", "X-Api-Key", "X-Note"].compactMap {
                request[$0]
            }
            let echo = sent.joined(separator: " and ")
            let fields = [
                ("Set-Cookie", "echo=\(echo)"), ("WWW-Authenticate", "Basic realm=\"\(echo)\""), ("X-Echo", echo),
                ("Content-Type", "text/plain"),
            ]
            let encoded = echo.replacing(" ", with: "%20").replacing(";", with: "%3B")
            switch request.target.prefix(while: { $0 != "?" }) {
            case "/moved": return .redirect(to: "/file.bin?sig=\(SecretSearch.signature)&echo=\(encoded)")
            case "/refused":
                return FaultReply(status: 499, fields: fields).with { $0.phrase = "I do not like \(echo)" }
            case "/denied": return FaultReply(status: 401, fields: fields).with { $0.phrase = echo }
            case "/odd":
                return FaultReply(content).with {
                    $0.fields = fields + [("Content-Length", echo)]
                    $0.framing = .closeDelimited
                }
            default:
                return FaultReply(content, etag: "\"v1\"").with {
                    $0.fields = fields
                    if request.range(in: content.size) == .part(0..<content.size) { $0.cut = .stall(after: mebibyte) }
                }
            }
        }

        func url(_ path: String, _ server: FaultServer) -> String {
            "http://ann:\(SecretSearch.password)@127.0.0.1:\(server.port)\(path)?token=\(SecretSearch.signature)"
        }

        func expectSent(_ entry: ServerLog.Entry?) {
            #expect(entry?.request["Authorization"] == "Basic \(SecretSearch.basic)")
            // The server's own cookie comes first. This cookie repeats the secrets to the server.
            #expect(entry?.request["Cookie"]?.hasSuffix("a=1; id=\(SecretSearch.cookie)") == true)
            #expect(entry?.request["Proxy-Authorization"] == "Basic \(SecretSearch.proxy)")
            #expect(entry?.request["X-Api-Key"] == SecretSearch.key)
            #expect(entry?.request["X-Note"] == "Bearer \(SecretSearch.unnamed)")
        }

        @Test("Secrets reach only the server, while a download is running, paused, killed, resumed and finished")
        func foreground() async throws {
            try await withDlm(Self.handler) { sandbox, server in
                let search = SecretSearch(sandbox: sandbox)
                let words = ["get", "-v", "-v"] + SecretSearch.headers + [url("/moved", server)]
                let first = try sandbox.start(words)
                #expect(await server.waitUntil { $0.bytesSent >= mebibyte })
                try await sandbox.waitToShow(1) { $0.received >= mebibyte }
                for entry in server.log.entries { expectSent(entry) }
                try search.expectNoTrace("running")
                try await search.askAll("running")
                for change in [["limit", "9M", "1"], ["priority", "2", "1"], ["pause", "1"]] {
                    let result = try await sandbox.done(change + ["-v", "--json"])
                    search.expectSilent(result, change)
                }
                try search.expectNoTrace("paused")
                try await search.askAll("paused")
                first.send(SIGKILL)
                search.expectSilent(try await first.result())
                try search.expectNoTrace("killed")
                let without = try await sandbox.run("resume", "-v", "1")
                expectFailure(2, of: without)
                search.expectSilent(without)
                let last = try await sandbox.run(words)
                try expectDownloaded(Self.content, as: "file.bin", by: last, in: sandbox)
                search.expectSilent(last)
                expectSent(server.log.entries.last)
                try search.expectNoTrace("finished")
                try await search.askAll("finished")
                search.expectSilent(try await sandbox.done("remove", "-v", "1"))
            }
        }

        @Test(
            "The background session reveals no secret during downloads, after set-url, after the end, or on its socket")
        func background() async throws {
            try await withDlm(Self.handler) { sandbox, server in
                let search = SecretSearch(sandbox: sandbox)
                let words = ["get", "-b", "-v"] + SecretSearch.headers + [url("/moved", server)]
                let handed = try await sandbox.run(words)
                #expect(handed.stdout == "1\n")
                search.expectSilent(handed)
                #expect(await server.waitUntil { $0.bytesSent >= mebibyte })
                try await sandbox.waitToShow(1) { $0.received >= mebibyte }
                expectSent(server.log.entries.last)
                try search.expectNoTrace("running")
                try await search.askAll("running")
                let socket = try await sandbox.daemonStatus().socket
                for path in ["downloads", "downloads/1", "session"] {
                    let client = try RawClient(socket)
                    client.send("GET /v1/\(path) HTTP/1.1\r\nHost: dlm\r\nConnection: close\r\n\r\n")
                    let answer = try await client.answer()
                    #expect(answer.status == 200, "\(path) \(answer.text)")
                    #expect(!SecretSearch.secrets.contains { answer.text.contains($0) }, "\(path) \(answer.text)")
                }
                // The download continues at the new URL at once. The log of the session may not contain a secret.
                let moved = try await sandbox.done("set-url", "-v", "1", url("/elsewhere", server))
                search.expectSilent(moved)
                let end = try await sandbox.run("wait", "-v", "1")
                try expectDownloaded(Self.content, as: "file.bin", by: end, in: sandbox)
                search.expectSilent(end)
                expectSent(server.log.entries.last)
                let refused =
                    ["get", "-b", "--retries", "0"] + SecretSearch.headers + [
                        url("/refused", server), url("/odd", server),
                    ]
                search.expectSilent(try await sandbox.run(refused))
                search.expectSilent(try await sandbox.run("wait", "-v", "2-3"))
                #expect(sandbox.daemonLog.contains("2: failed"))
                try search.expectNoTrace("finished")
                try await search.askAll("finished")
            }
        }

        @Test(
            "A running session keeps the password of a new URL; without a session, set-url says that it is not stored")
        func newPassword() async throws {
            let basic = "Basic \(SecretSearch.basic)"
            try await withDlm({ request in
                request["Authorization"] == basic ? FaultReply(Self.content) : FaultReply(status: 403)
            }) { sandbox, server in
                let search = SecretSearch(sandbox: sandbox)
                try await sandbox.hand([server.url("/a"), server.url("/b")])
                expectFailure(8, of: try await sandbox.run("wait", "1"))
                let there = url("/a", server)
                let told = try await sandbox.run("set-url", "1", there)
                #expect(told.ending == .exited(0) && told.stderr == "", "\(told.stderr)")
                try await sandbox.done("resume", "1")
                try expectDownloaded(Self.content, as: "a", by: try await sandbox.run("wait", "1"), in: sandbox)
                try await sandbox.done("daemon", "stop")
                let alone = try await sandbox.done("set-url", "2", url("/b", server))
                #expect(alone.stderr.contains("passwords are not stored"), "\(alone.stderr)")
                search.expectSilent(alone)
                try await sandbox.expectDownloaded(Self.content, as: "b", byProcess: "get", url("/b", server))
                #expect(try await sandbox.list().count == 2)
                try search.expectNoTrace("new password")
            }
        }

        @Test(
            "Secrets that a server repeats are not shown",
            arguments: [("/refused", 8), ("/denied", 6), ("/odd", 7)] as [(String, Int32)],
            FaultTrial.short([["-v"], ["--json"], ["-v", "-v"]], each: 3))
        func echoed(end: (path: String, status: Int32), options: [String]) async throws {
            try await withDlm(Self.handler) { sandbox, server in
                let search = SecretSearch(sandbox: sandbox)
                let words = ["get", "--retries", "0"] + options + SecretSearch.headers + SecretSearch.authorization
                let target = server.url("\(end.path)?X-Amz-Signature=\(SecretSearch.signature)")
                let result = try await sandbox.run(words + [target])
                #expect(result.ending == .exited(end.status), "\(result.stderr)")
                #expect(server.log.entries.first?.request["Authorization"] == "Bearer \(SecretSearch.token)")
                #expect(result.stderr.contains("?X-Amz-Signature=***"), "\(result.stderr)")
                search.expectSilent(result)
                try search.expectNoTrace(end.path)
                try await search.askAll(end.path)
            }
        }

        @Test("An invalid URL or option is refused, and no message repeats its secret")
        func malformed() async throws {
            let password = SecretSearch.password
            let (head, tail) = (password.prefix(4), password.dropFirst(4))
            try await withDlm(serving: FaultReply(Self.content)) { sandbox, server in
                let good = server.url()
                try sandbox.root.write("http://ann:\(password)@\nann:\(password)@h/x\n", to: "files/list")
                for words in [
                    ["get", "http://ann:\(password)@"], ["get", "http://ann:\(head)/\(tail)@h/x"],
                    ["get", "ann:\(password)@h/x"], ["get", "gopher://ann:\(password)@h/x"],
                    ["get", "http://ann:\(password)@h:0/x"],
                    ["set-url", "1", "http://ann:\(password)@"], ["get", "-u", ":\(password)", good],
                    ["get", "--user=:\(password)", good], ["get", "--proxy", "x://ann:\(password)@h", good],
                    ["get", "--query", password, good], ["get", "--bearer-file", "x", "-u", "a:\(password)", good],
                    ["get", "-H", "Authorization \(password)", good],
                    ["get", "-H", "A: b\u{1}\(password)", good], ["get", "--header=\(password)", good],
                    ["get", "-i", "list"], ["get", "-i", "list", "--json"], ["resume", "1", "-H", password],
                ] {
                    let result = try await sandbox.run(words)
                    #expect(result.ending == .exited(2), "\(words) \(result.stderr)")
                    let said = result.stdout + result.stderr
                    #expect(!said.contains(password) && !said.contains(tail), "\(words) \(said)")
                }
                #expect(server.log.entries.isEmpty)
                try FileManager.default.removeItem(atPath: sandbox.file("list"))
                for line in ["header: 'Authorization \(password)'", "user: ':\(password)'", password] {
                    try sandbox.configure(line + "\n")
                    let result = try await sandbox.run("list")
                    expectFailure(2, of: result, line)
                    #expect(!result.stderr.contains(password), "\(result.stderr)")
                }
                try FileManager.default.removeItem(atPath: sandbox.configuration)
                try SecretSearch(sandbox: sandbox).expectNoTrace("refused")
            }
        }
    }
}
