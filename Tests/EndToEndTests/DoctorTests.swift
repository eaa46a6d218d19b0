import DownloadTestSupport
import Foundation
import Testing

/// A line of the output of `dlm doctor --json`.
struct Found: Decodable {
    struct Timings: Decodable {
        let connect: Double
        let total: Double
    }

    let version: Int
    let section: String
    let name: String
    let result: String
    let detail: String
    let advice: String?
    let exitStatus: Int32?
    let timings: Timings?
}

extension ChildProcess.Result {
    func findings() throws -> [Found] {
        try outputLines.map { try JSONDecoder().decode(Found.self, from: Data($0.utf8)) }
    }
}

extension [Found] {
    func named(_ name: String) -> [Found] { filter { $0.name == name } }
    fileprivate var problems: [Found] { filter { $0.result == "problem" } }
}

extension EndToEnd {
    @Suite("dlm doctor", .serialized, .timeLimit(.minutes(2)))
    struct DoctorTests {
        let content = Content(seed: 760, size: 100_000)

        @Test("If there are no problems, doctor reports none and leaves no file behind")
        func healthy() async throws {
            try await withDlm { sandbox in
                let result = try await sandbox.done("doctor") { $0.environment["LANG"] = "C" }
                #expect(result.stderr == "")
                for word in ["libcurl", "OpenSSL", "authorities", "https proxy", "config.yaml", "socket path", "store"]
                {
                    #expect(result.stdout.contains(word), "\(word): \(result.stdout)")
                }
                #expect(!result.stdout.contains("problem"), "\(result.stdout)")
                #expect(sandbox.names.isEmpty && sandbox.root.names(in: "state").isEmpty, "something was made")

                let lines = try await sandbox.run("doctor", "--json").findings()
                #expect(lines.allSatisfy { $0.version == 1 && !$0.detail.isEmpty })
                #expect(lines.named("libcurl").first?.detail.first?.isNumber == true)
                let working = try #require(lines.named("working").first)
                #expect(working.detail.contains("rename without replacing"), "\(working.detail)")
                #expect(sandbox.root.names(in: "state").isEmpty)
            }
        }

        @Test("doctor reports a store, its downloads and a running session, and changes nothing")
        func used() async throws {
            try await withDlm(serving: FaultReply(content, etag: "\"v\"")) { sandbox, server in
                #expect(try await sandbox.perform("get", server.url()).ending == .exited(0))
                #expect(try await sandbox.run("daemon", "start").ending == .exited(0))
                let result = try await sandbox.done("doctor", "--json")
                let lines = try result.findings()
                let store = try #require(lines.named("store").first)
                #expect(store.detail.contains("1 download") && store.detail.contains("intact"), "\(store.detail)")
                let background = try #require(lines.named("background").first)
                #expect(background.result == "ok" && background.detail.contains("pid "), "\(background.detail)")
                #expect(try await sandbox.list().map(\.state) == ["completed"])
            }
        }

        @Test("An unwritable state folder gives exit status 12, with advice, and a file in its place also gives 12")
        func unwritableState() async throws {
            try await withDlm { sandbox in
                #expect(chmod(try sandbox.root.makeFolder("state/dlm"), 0o500) == 0)
                let result = try await sandbox.run(through: Through.withoutPrivileges, ["doctor", "--json"])
                #expect(result.ending == .exited(12), "\(result.stdout)\(result.stderr)")
                let problem = try #require(try result.findings().problems.first)
                #expect(problem.detail.contains("Permission denied"), "\(problem.detail)")
                #expect(problem.advice?.contains("XDG_STATE_HOME") == true)
                #expect(chmod(sandbox.state + "/dlm", 0o700) == 0)
                #expect(rmdir(sandbox.state + "/dlm") == 0)
                try Data().write(to: URL(fileURLWithPath: sandbox.state + "/dlm"))
                let other = try await sandbox.run("doctor", "-q")
                #expect(other.ending == .exited(12) && other.stdout == "", "\(other)")
                #expect(other.stderr.contains("is not a folder"), "\(other.stderr)")
            }
        }

        @Test("An unwritable working folder gives exit status 3, and an unreadable configuration gives exit status 2")
        func otherFolders() async throws {
            try await withDlm { sandbox in
                #expect(chmod(sandbox.files, 0o500) == 0)
                let result = try await sandbox.run(through: Through.withoutPrivileges, ["doctor", "--json"])
                #expect(result.ending == .exited(3), "\(result.stdout)")
                #expect(try result.findings().problems.map(\.name) == ["working"])
                #expect(chmod(sandbox.files, 0o700) == 0)

                try sandbox.configure("retires: 3\n")
                let other = try await sandbox.run("doctor", "--json")
                #expect(other.ending == .exited(2), "\(other.stdout)")
                let problem = try #require(try other.findings().problems.first)
                #expect(problem.detail.contains("config.yaml:1") && problem.detail.contains("retries"))
            }
        }

        @Test("A damaged store gives exit status 12 and is not changed, and neither is a store of another version")
        func stores() async throws {
            try await withDlm { sandbox in
                #expect(try await sandbox.list().isEmpty)
                let store = sandbox.state + "/dlm/downloads.sqlite"
                // The header has the `user_version` at offset 60 (sqlite.org/fileformat.html).
                try overwrite(store, at: 60, with: [0, 0, 0, 99])
                let newer = try await sandbox.run("doctor", "--json")
                #expect(newer.ending == .exited(12), "\(newer.stdout)")
                #expect(try newer.findings().problems.first?.detail.contains("newer version") == true)
                // The `application_id` is at offset 68.
                try overwrite(store, at: 60, with: [0, 0, 0, 8])
                try overwrite(store, at: 68, with: Array("dlm1".utf8))
                let older = try await sandbox.run("doctor", "--json")
                #expect(older.ending == .exited(12), "\(older.stdout)")
                #expect(try older.findings().problems.first?.detail.contains("before 0.1.0") == true)
                try overwrite(store, with: Array(repeating: 7, count: 100))
                let before = try sha256(of: store)
                let damaged = try await sandbox.run("doctor", "--json")
                #expect(damaged.ending == .exited(12), "\(damaged.stdout)")
                let problem = try #require(try damaged.findings().problems.first)
                #expect(
                    problem.name == "store" && problem.detail.contains("the next command rescues it"),
                    "\(problem.detail)")
                #expect(try sha256(of: store) == before)
            }
        }

        @Test("A killed session's files are a warning, and a session that does not answer gives exit status 12")
        func sessions() async throws {
            try await withDlm { sandbox in
                #expect(try await sandbox.run("daemon", "start").ending == .exited(0))
                let status = try sandbox.status(try await sandbox.run("daemon", "status", "--json"))
                let pid = try #require(status.pid)
                let daemon = try #require(ForeignProcess(pid))
                daemon.send(SIGSTOP)
                let stopped = try await sandbox.run("doctor", "--json")
                #expect(stopped.ending == .exited(12), "\(stopped.stdout)")
                let problem = try #require(try stopped.findings().problems.first)
                #expect(problem.name == "background" && problem.advice?.contains("kill \(pid)") == true, "\(problem)")
                daemon.send(SIGKILL)
                #expect(await daemon.waitForEnd())
                let killed = try await sandbox.done("doctor", "--json")
                let left = try #require(try killed.findings().named("background").first)
                #expect(left.result == "warning" && left.detail.contains("a socket"), "\(left)")
                #expect(sandbox.root.exists("state/dlm/sessions/background.sock"))
            }
        }

        @Test(
            "doctor URL reports phases, addresses, ranges, validators, size and name; it requests only one byte"
        )
        func request() async throws {
            let reply = FaultReply(content, etag: "\"v1\"").with {
                $0.fields = [("Content-Disposition", "attachment; filename=\"prices 2.csv\"")]
            }
            try await withDlm(serving: reply) { sandbox, server in
                let result = try await sandbox.done("doctor", server.url("/x"), "--json")
                let lines = try result.findings().filter { $0.section == "request" }
                #expect(lines.allSatisfy { $0.result == "ok" }, "\(lines)")
                #expect(lines.named("addresses").first?.detail.hasPrefix("127.0.0.1:") == true, "\(lines)")
                #expect(lines.named("answer").first?.detail == "206 Partial Content over HTTP/1.1")
                #expect(lines.named("ranges").first?.detail.hasPrefix("yes") == true)
                #expect(lines.named("validator").first?.detail == "ETag \"v1\" (strong)")
                #expect(lines.named("size").first?.detail.contains("(100000 bytes)") == true)
                #expect(lines.named("name").first?.detail == "prices 2.csv")
                let timings = try #require(lines.named("phases").first?.timings)
                #expect(timings.total >= timings.connect && timings.connect > 0)
                #expect(server.log.requests(to: "/x").map(\.range) == ["bytes=0-0"])
                #expect(sandbox.names.isEmpty && sandbox.root.names(in: "state").isEmpty)
            }
        }

        @Test(
            "A server without ranges and validators gives a warning; a large body is not read; an empty file is fine"
        )
        func weakServer() async throws {
            let large = FaultReply(Content(seed: 761, size: 64 * mebibyte)).with {
                $0.ranges = .ignored
                $0.framing = .chunked
            }
            try await withDlm({ $0.target == "/empty" ? FaultReply(.empty, etag: "\"e\"") : large }) {
                sandbox, server in
                let result = try await sandbox.done("doctor", server.url("/large"), "--json")
                let warned = try result.findings().filter { $0.result == "warning" && $0.section == "request" }
                #expect(warned.map(\.name) == ["ranges", "validator", "size"], "\(warned)")
                #expect(warned.allSatisfy { $0.advice != nil })
                #expect(server.log.bytesSent < 16 * mebibyte)
                let empty = try await sandbox.done("doctor", server.url("/empty"), "--json")
                #expect(try empty.findings().named("size").first?.detail.hasPrefix("0 B") == true, "\(empty.stdout)")
            }
        }

        @Test("Only a strong validator promises that a download is continued over several connections")
        func validators() async throws {
            let date = "Tue, 14 Nov 2023 22:13:20 GMT"
            try await withDlm({ [content] request in
                switch request.target {
                case "/etag": FaultReply(content, etag: "\"a\"")
                case "/date": FaultReply(content, lastModified: date)
                case "/weak": FaultReply(content, etag: "W/\"a\"")
                default: FaultReply(content)
                }
            }) { sandbox, server in
                for (path, isStrong) in [("/etag", true), ("/date", true), ("/weak", false), ("/none", false)] {
                    let lines = try await sandbox.run("doctor", server.url(path), "--json").findings()
                    let ranges = lines.named("ranges").first?.detail
                    #expect(ranges?.contains("several connections") == isStrong, "\(path) \(lines)")
                    let advice = lines.named("validator").first?.advice
                    #expect(advice?.contains("over one connection") ?? false == !isStrong, "\(path) \(lines)")
                }
            }
        }

        @Test("Each redirect is reported, and a redirect loop gives exit status 7")
        func redirects() async throws {
            let script: FaultServer.Handler = { [content] request in
                switch request.target {
                case "/a": .redirect(to: "/b", status: 301)
                case "/b": .redirect(to: "/c")
                case "/loop": .redirect(to: "/loop")
                default: FaultReply(content, etag: "\"v\"")
                }
            }
            try await withDlm(script) { sandbox, server in
                let lines = try await sandbox.run("doctor", server.url("/a"), "--json").findings()
                #expect(lines.named("redirect").map(\.detail).map { String($0.prefix(3)) } == ["301", "302"])
                #expect(lines.named("redirect").allSatisfy { $0.detail.contains("redirects to http://") })
                #expect(lines.named("request").last?.detail == server.url("/c"))
                #expect(lines.named("phases").count == 3)
                let loop = try await sandbox.run("doctor", server.url("/loop"), "--json")
                #expect(loop.ending == .exited(7), "\(loop.stdout)")
                #expect(try loop.findings().problems.map(\.exitStatus) == [7])
            }
        }

        @Test(
            "doctor ends with the status of a download: for 404, 401, a closed port, a dead proxy and an unknown host")
        func failures() async throws {
            let script: FaultServer.Handler = { FaultReply(status: $0.target == "/401" ? 401 : 404) }
            try await withDlm(script) { sandbox, server in
                let cases: [(String, Int32, [String: String], String)] = [
                    (server.url("/gone"), 8, [:], "check the URL"),
                    (server.url("/401"), 6, [:], "a token"),
                    ("http://127.0.0.1:1/", 4, [:], "is running"),
                    (server.url("/x"), 4, ["http_proxy": "http://127.0.0.1:1"], "proxy"),
                    ("http://no-such-host.invalid/", 4, [:], "resolv.conf"),
                ]
                for (url, status, environment, advice) in cases {
                    let result = try await sandbox.run("doctor", url, "--json") {
                        $0.environment.merge(environment) { $1 }
                    }
                    #expect(result.ending == .exited(status), "\(url) \(result.stdout)\(result.stderr)")
                    let problem = try #require(try result.findings().problems.first, "\(url)")
                    #expect(problem.advice?.contains(advice) == true, "\(problem)")
                    #expect(try result.findings().named("proxy").isEmpty == environment.isEmpty)
                }
                expectFailure(2, of: try await sandbox.run("doctor", "file:///etc/passwd"))
                expectFailure(2, of: try await sandbox.run("doctor", "example.org"))
            }
        }

        @Test("TLS: version and cipher are reported; an unknown authority and an empty CA file give exit status 5")
        func tls() async throws {
            let reply = FaultReply(content, etag: "\"v\"")
            try await withSecureDlm({ _ in reply }) { site in
                let result = try await site.run("doctor", site.server.url(), "--json")
                #expect(result.ending == .exited(0), "\(result.stdout)")
                let tls = try result.findings().named("TLS").last
                #expect(tls?.detail.hasPrefix("TLSv1.") == true && tls?.detail.contains("_") == true, "\(tls)")
                let authorities = try result.findings().named("authorities").first
                #expect(authorities?.detail.hasSuffix("(SSL_CERT_FILE): 1 certificate") == true)
                let unknown = try await site.sandbox.run("doctor", site.server.url(), "--json")
                #expect(unknown.ending == .exited(5), "\(unknown.stdout)")
                #expect(try unknown.findings().problems.first?.advice?.contains("SSL_CERT_FILE") == true)
                let empty = try await site.sandbox.run("doctor", "--json") {
                    $0.environment["SSL_CERT_FILE"] = "/dev/null"
                }
                #expect(empty.ending == .exited(5), "\(empty.stdout)")
                #expect(try empty.findings().problems.first?.detail.contains("no certificate") == true)
            }
        }

        @Test("doctor uses the options of get and the settings of the host")
        func options() async throws {
            let script: FaultServer.Handler = { [content] request in
                let isKnown = request["Authorization"] == "Bearer \(SecretSearch.token)" && request["X-Team"] == "data"
                return isKnown ? FaultReply(content, etag: "\"v\"") : FaultReply(status: 401)
            }
            try await withDlm(script) { sandbox, server in
                try sandbox.configure("hosts:\n  127.0.0.1:\n    header: \"X-Team: data\"\n")
                try sandbox.root.write(SecretSearch.token + "\n", to: "token")
                #expect(try await sandbox.run("doctor", server.url()).ending == .exited(6))
                let result = try await sandbox.run("doctor", "--bearer-file", sandbox.root("token"), server.url(), "-v")
                #expect(result.ending == .exited(0), "\(result.stdout)")
                SecretSearch(sandbox: sandbox).expectSilent(result)
                #expect(server.log.entries.last?.range == "bytes=0-0")
                let proxied = try await sandbox.run(
                    "doctor", "--proxy", "http://u:pw-9@127.0.0.1:1", server.url(), "--json")
                #expect(proxied.ending == .exited(4) && !proxied.stdout.contains("pw-9"), "\(proxied.stdout)")
                #expect(try proxied.findings().named("proxy").first?.detail == "http://127.0.0.1:1 (--proxy)")
                let trust = try await sandbox.done("doctor", "-k", "--json")
                #expect(try trust.findings().named("verification").first?.result == "warning")
            }
        }

        @Test("doctor shows no secret of the URL or of proxies, and none in text from the server")
        func secrets() async throws {
            let script: FaultServer.Handler = { [content] request in
                if request.target.hasPrefix("/old") {
                    return .redirect(to: "/new?token=\(SecretSearch.signature)&got=\(SecretSearch.basic)")
                }
                return FaultReply(content, etag: "\"\(SecretSearch.basic)\"").with { $0.phrase = SecretSearch.password }
            }
            try await withDlm(script) { sandbox, server in
                let search = SecretSearch(sandbox: sandbox)
                let address = server.url("/old?token=\(SecretSearch.signature)")
                let url = address.replacing("http://", with: "http://ann:\(SecretSearch.password)@")
                for words in [["--json"], [], ["-q"], ["-v", "-v"]] {
                    for proxy in [
                        "http://eve:\(SecretSearch.proxy)@127.0.0.1:1", "eve:\(SecretSearch.proxy)@127.0.0.1:1",
                    ] {
                        let result = try await sandbox.run(["doctor", url] + words) {
                            $0.environment["https_proxy"] = proxy
                            $0.environment["HTTP_PROXY"] = proxy
                        }
                        search.expectSilent(result, words)
                        #expect(!result.stdout.contains(SecretSearch.signature), "\(result.stdout)")
                    }
                }
                let dead = try await sandbox.run("doctor", url) {
                    $0.environment["http_proxy"] = "http://eve:\(SecretSearch.proxy)@127.0.0.1:1"
                }
                #expect(dead.ending == .exited(4))
                search.expectSilent(dead)
                try search.expectNoTrace("doctor")
            }
        }
    }
}
