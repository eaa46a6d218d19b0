import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Credentials", .serialized, .timeLimit(.minutes(2)))
    struct CredentialOptionTests {
        static let content = Content(seed: 750, size: 9 * mebibyte + 3)
        static var file: FaultReply { FaultReply(content, etag: "\"v1\"") }

        static func basic(_ user: String, _ password: String) -> String {
            "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
        }

        @Test(
            "-u is sent on every connection, and not to another origin; the name and password of a URL take precedence")
        func user() async throws {
            let other = try FaultServer { _ in Self.file }
            let target = other.url()
            try await withDlm({ $0.target == "/away" ? .redirect(to: target) : Self.file }) { sandbox, server in
                let search = SecretSearch(sandbox: sandbox)
                let words = ["-u", "ann:\(SecretSearch.password)", "-x", "4", "-v"]
                let result = try await sandbox.run(["get"] + words + [server.url()])
                try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox)
                #expect(server.log.entries.count > 3)
                #expect(
                    server.log.entries.allSatisfy { $0.request["Authorization"] == "Basic \(SecretSearch.basic)" })
                let away = try await sandbox.run(["get", "-o", "away"] + words + [server.url("/away")])
                try expectDownloaded(Self.content, as: "away", by: away, in: sandbox)
                #expect(other.log.entries.allSatisfy { $0.request["Authorization"] == nil })
                let own = "http://bob:own@127.0.0.1:\(server.port)/own"
                let last = try await sandbox.run(["get"] + words + [own])
                try expectDownloaded(Self.content, as: "own", by: last, in: sandbox)
                #expect(server.log.entries.last?.request["Authorization"] == Self.basic("bob", "own"))
                for said in [result, away, last] { search.expectSilent(said) }
                try search.expectNoTrace("finished")
            }
        }

        @Test(
            "If -u has no password, dlm asks for it on the terminal, and does not show the answer",
            arguments: [false, true])
        func asked(isResumed: Bool) async throws {
            try await withDlm({ request in
                if request["Authorization"] != Self.basic("ann", SecretSearch.password) {
                    return FaultReply(status: 401)
                }
                return Self.file.with { if request.number == 1, isResumed { $0.cut = .stall(after: 2 * mebibyte) } }
            }) { sandbox, server in
                let search = SecretSearch(sandbox: sandbox)
                var words = ["get", "-u", "ann", server.url()]
                if isResumed {
                    let ann = "ann:\(SecretSearch.password)"
                    let first = try sandbox.start(["get", "-x", "1", "-u", ann, server.url()])
                    #expect(await server.waitUntil { $0.bytesSent >= 2 * mebibyte })
                    try await sandbox.waitToShow(1) { $0.received >= mebibyte }
                    try await first.killed()
                    let without = try await sandbox.run("resume", "1")
                    expectFailure(2, of: without)
                    #expect(without.stderr.contains("dlm resume 1 -u ann"), "\(without.stderr)")
                    words = ["resume", "1", "-u", "ann"]
                }
                let process = try sandbox.start(words) { $0.terminalColumns = 80 }
                #expect(await process.waitForOutput { $0.errorText.contains("Password for ann: ") })
                process.type(SecretSearch.password + "\n")
                let result = try await process.result()
                #expect(result.ending == .exited(0), "\(result.stderr)")
                try expectFile(Self.content, "file.bin", in: sandbox)
                search.expectSilent(result)
                try search.expectNoTrace("asked")
            }
        }

        @Test("Ctrl-C at the password prompt ends dlm by SIGINT; without a terminal there is no prompt")
        func unanswered() async throws {
            try await withDlm(serving: Self.file) { sandbox, server in
                var launch = try sandbox.launch(["get", "-u", "ann", server.url()])
                launch.terminalColumns = 80
                let process = try ChildProcess(launch)
                #expect(await process.waitForOutput { $0.errorText.contains("Password for ann: ") })
                process.type("abc\u{3}")
                #expect(try await process.result().ending == .signalled(SIGINT))
                var alone = try sandbox.launch(["get", "-u", "ann", server.url()])
                alone.arguments = ["--wait", alone.executable] + alone.arguments
                alone.executable = "/usr/bin/setsid"
                expectFailure(2, of: try await ChildProcess(alone).result())
                #expect(server.log.entries.isEmpty)
            }
        }

        @Test("If the file is missing, --netrc continues without a password, and --netrc-file gives exit status 3")
        func noNetrc() async throws {
            try await withDlm(serving: Self.file) { sandbox, server in
                try await sandbox.expectDownloaded(Self.content, byProcess: "get", "--netrc", server.url())
                #expect(server.log.entries[0].request["Authorization"] == nil)
                expectFailure(3, of: try await sandbox.run("get", "--netrc-file", "none", server.url("/b")))
            }
        }

        @Test(
            "--netrc finds logins in ~/.netrc by host, even after redirects; a default entry is for the first host"
        )
        func netrc() async throws {
            let other = try FaultServer { _ in Self.file }
            let named = "http://localhost:\(other.port)/file.bin"
            try await withDlm({ _ in .redirect(to: named) }) { sandbox, server in
                let search = SecretSearch(sandbox: sandbox)
                try sandbox.root.write(
                    "machine localhost login bob password two\nmachine 127.0.0.1\n login ann\n password "
                        + "\(SecretSearch.password)\n", to: "home/.netrc")
                let result = try await sandbox.run("get", "--netrc", "-v", server.url("/start"))
                try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox)
                #expect(server.log.entries[0].request["Authorization"] == "Basic \(SecretSearch.basic)")
                #expect(other.log.entries[0].request["Authorization"] == Self.basic("bob", "two"))
                search.expectSilent(result)
                try sandbox.root.write("default login ann password else\n", to: "home/own")
                let second = try await sandbox.run(
                    "get", "--netrc-file", "../home/own", "-o", "second", server.url("/start"))
                try expectDownloaded(Self.content, as: "second", by: second, in: sandbox)
                #expect(server.log.entries[1].request["Authorization"] == Self.basic("ann", "else"))
                #expect(other.log.entries.last?.request["Authorization"] == nil)
            }
        }

        @Test(
            "Secret files are read at each attempt and stored nowhere: a new secret is used, even after a kill")
        func renewed() async throws {
            try await withDlm({ request in
                Self.file.with { if request.number == 1 { $0.cut = .stall(after: 2 * mebibyte) } }
            }) { sandbox, server in
                let search = SecretSearch(sandbox: sandbox)
                try sandbox.root.write("old-token-1\n", to: "token")
                let token = sandbox.root("token")
                // One connection, because an automatic number asks for the rest while the first one stalls.
                let first = try sandbox.start(["get", "-x", "1", "--bearer-file", "../token", server.url()])
                #expect(await server.waitUntil { $0.bytesSent >= 2 * mebibyte })
                try await sandbox.waitToShow(1) { $0.received >= mebibyte }
                try await first.killed()
                try FileManager.default.removeItem(atPath: token)
                expectFailure(3, of: try await sandbox.run("resume", "1"))
                try sandbox.root.write("  \(SecretSearch.token) \n", to: "token")
                let result = try await sandbox.run("resume", "1", "-v")
                try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox)
                #expect(server.log.entries[0].request["Authorization"] == "Bearer old-token-1")
                #expect(server.log.entries[1].request["Authorization"] == "Bearer \(SecretSearch.token)")
                #expect(server.log.entries[1].range != nil)
                search.expectSilent(result)
                try FileManager.default.removeItem(atPath: token)
                try search.expectNoTrace("finished")
                try await search.askAll("finished")
            }
        }

        @Test(
            "Missing, unreadable, empty and invalid files are reported before a request is sent",
            arguments: [
                (["--netrc-file", "none"], 3), (["--bearer-file", "none"], 3),
                (["--bearer-file", "empty"], 2), (["--bearer-file", "words"], 2), (["--bearer-file", "."], 3),
                (["-u", ":x"], 2), (["-u", "a:b", "--bearer-file", "words"], 2),
                (["--cookie-file", "none"], 3), (["--cookie-file", "page"], 2), (["--cookie-jar", "page"], 2),
                (["--cookie-jar", "no/folder"], 3), (["--cookie-file", ""], 2), (["--cookie-jar", "/"], 2),
            ] as [([String], Int32)])
        func refused(options: [String], status: Int32) async throws {
            try await withDlm(serving: Self.file) { sandbox, server in
                try sandbox.root.write(" \n", to: "files/empty")
                try sandbox.root.write("two words", to: "files/words")
                try sandbox.root.write("<html>\n", to: "files/page")
                let result = try await sandbox.run(["get"] + options + [server.url()])
                expectFailure(status, of: result, options)
                #expect(server.log.entries.isEmpty)
                #expect(try sandbox.root.read("files/page") == "<html>\n")
            }
        }
    }
}
