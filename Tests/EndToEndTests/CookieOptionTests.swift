import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Cookies", .serialized, .timeLimit(.minutes(2)))
    struct CookieOptionTests {
        static let content = Content(seed: 760, size: 9 * mebibyte + 3)
        static var file: FaultReply { FaultReply(content, etag: "\"v1\"") }
        static let header = "# Netscape HTTP Cookie File\n\n"
        static let later = "\(Int(Date().timeIntervalSince1970) + 86_400)"

        static func line(
            _ name: String, _ value: String, domain: String = "127.0.0.1", path: String = "/", secure: Bool = false,
            end: String = later, others: Bool = false
        ) -> String {
            [domain, others ? "TRUE" : "FALSE", path, secure ? "TRUE" : "FALSE", end, name, value]
                .joined(separator: "\t") + "\n"
        }

        static func sent(_ entry: ServerLog.Entry) -> Set<String> {
            Set((entry.request["Cookie"] ?? "").split(separator: "; ").map { String($0) })
        }

        @Test(
            "Only cookies of a matching domain, path, scheme and time are sent, on all connections and after redirects")
        func chosen() async throws {
            let other = try FaultServer { _ in Self.file }
            let named = "http://localhost:\(other.port)/file.bin"
            try await withDlm({ request in
                request.target == "/away" ? .redirect(to: named) : Self.file
            }) { sandbox, server in
                let search = SecretSearch(sandbox: sandbox)
                let jar =
                    Self.header + Self.line("id", SecretSearch.cookie) + "#HttpOnly_" + Self.line("hidden", "yes")
                    + Self.line("session", "1", end: "0") + Self.line("deep", "no", path: "/deep/")
                    + Self.line("old", "no", end: "1000000000") + Self.line("other", "no", domain: "example.org")
                    + Self.line("part", "no", domain: "7.0.0.1", others: true)
                    + Self.line("local", "1", domain: "localhost")
                try sandbox.root.write(jar.replacing("\n", with: "\r\n"), to: "home/cookies")
                let words = ["get", "-v", "-x", "4", "--cookie-file", sandbox.root("home/cookies")]
                let result = try await sandbox.perform(words + [server.url()])
                try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox)
                #expect(server.log.entries.count > 3)
                for entry in server.log.entries {
                    #expect(Self.sent(entry) == ["id=\(SecretSearch.cookie)", "hidden=yes", "session=1"])
                }
                search.expectSilent(result)
                let away = try await sandbox.perform(
                    words + ["-o", "away", "-H", "Cookie: own=1", server.url("/away")])
                try expectDownloaded(Self.content, as: "away", by: away, in: sandbox)
                let first = try #require(server.log.requests(to: "/away").first)
                #expect(Self.sent(first) == ["id=\(SecretSearch.cookie)", "hidden=yes", "session=1", "own=1"])
                #expect(first.request.fields.count { $0.name.lowercased() == "cookie" } == 1)
                for entry in other.log.entries { #expect(Self.sent(entry) == ["local=1"]) }
                try FileManager.default.removeItem(atPath: sandbox.root("home/cookies"))
                try search.expectNoTrace("finished")
                try await search.askAll("finished")
            }
        }

        @Test("A cookie for https only is not sent over http")
        func secure() async throws {
            try await withSecureDlm({ _ in Self.file }) { site in
                let plain = try FaultServer { _ in Self.file }
                // libcurl sends secure cookies to localhost and 127.0.0.1 even over http, so the test uses another
                // name.
                let host = "safe.example"
                try site.sandbox.root.write(
                    Self.line("safe", "1", domain: host, secure: true) + Self.line("any", "1", domain: host),
                    to: "files/cookies")
                let words = ["get", "-k", "--cookie-file", site.sandbox.file("cookies"), "--resolve"]
                let secured = try await site.run(
                    words + ["\(host):\(site.server.port):127.0.0.1", "https://\(host):\(site.server.port)/a"])
                try expectDownloaded(Self.content, as: "a", by: secured, in: site.sandbox)
                #expect(Self.sent(site.server.log.entries[0]) == ["safe=1", "any=1"])
                let open = try await site.run(
                    words + ["\(host):\(plain.port):127.0.0.1", "http://\(host):\(plain.port)/b"])
                try expectDownloaded(Self.content, as: "b", by: open, in: site.sandbox)
                #expect(Self.sent(plain.log.entries[0]) == ["any=1"])
            }
        }

        @Test(
            "A login cookie is sent after its redirect, and saved in the jar, which only its owner can read"
        )
        func login() async throws {
            try await withDlm({ request in
                switch request.target {
                case "/login":
                    FaultReply.redirect(to: "/file.bin", status: 303).with {
                        $0.fields += [
                            ("Set-Cookie", "token=\(SecretSearch.cookie); Path=/; HttpOnly; Max-Age=3600"),
                            ("Set-Cookie", "gone=; Path=/; Max-Age=0"), ("Set-Cookie", "foreign=1; Domain=example.org"),
                        ]
                    }
                default: request["Cookie"]?.contains(SecretSearch.cookie) == true ? Self.file : FaultReply(status: 403)
                }
            }) { sandbox, server in
                try sandbox.root.write(
                    Self.header + Self.line("gone", "1") + Self.line("kept", "1", domain: "example.org"),
                    to: "files/jar")
                let jar = sandbox.file("jar")
                let words = ["get", "--cookie-file", jar, "--cookie-jar", jar]
                let result = try await sandbox.perform(words + ["--data", "password=1", server.url("/login")])
                try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox)
                let lines = try sandbox.root.read("files/jar").split(separator: "\n").filter { $0.contains("\t") }
                #expect(lines.count == 2, "\(lines)")
                #expect(lines.contains { $0.hasPrefix("example.org\t") && $0.hasSuffix("kept\t1") })
                #expect(
                    lines.contains {
                        $0.hasPrefix("#HttpOnly_127.0.0.1\tFALSE\t/\tFALSE\t")
                            && $0.hasSuffix("\ttoken\t\(SecretSearch.cookie)")
                    })
                #expect(try sandbox.mode(of: sandbox.file("jar")) == 0o600)
                // The next run does not log in.
                try await sandbox.expectDownloaded(Self.content, as: "next", by: words + [server.url("/next")])
            }
        }

        /// Sets a cookie at `/login`, and serves files only to requests with this cookie.
        static func asking(_ request: FaultRequest) -> FaultReply {
            if request.target == "/login" {
                return .redirect(to: "/file.bin").with {
                    $0.fields.append(("Set-Cookie", "token=\(SecretSearch.cookie); Path=/; HttpOnly"))
                }
            }
            guard request["Cookie"] == "token=\(SecretSearch.cookie)" else { return FaultReply(status: 403) }
            return request.target == "/small" ? FaultReply(Content("small")) : Self.file
        }

        @Test(
            "Without a jar, cookies last as long as the command: they are sent after redirects and to later URLs",
            arguments: [["-x", "1"], ["-x", "4"], ["--ephemeral"]])
        func session(options: [String]) async throws {
            try await withDlm(Self.asking) { sandbox, server in
                let urls = ["/login", "/small", "/next"].map { server.url($0) }
                let result = try await sandbox.performDone(["get", "-v", "-j", "1"] + options + urls)
                for name in ["file.bin", "next"] { try expectFile(Self.content, name, in: sandbox) }
                #expect(sandbox.names == ["file.bin", "next", "small"])
                #expect(try sandbox.root.read("files/small") == "small")
                SecretSearch(sandbox: sandbox).expectSilent(result)
                try SecretSearch(sandbox: sandbox).expectNoTrace("the command is over")
                // The next command has no cookies.
                expectFailure(8, of: try await sandbox.perform("get", "-o", "again", server.url("/next")))
            }
        }

        @Test("A cookie of the first answer is sent on the other connections, even while that answer is still arriving")
        func connections() async throws {
            try await withDlm({ request in
                let isFirst = request["Range"]?.hasPrefix("bytes=0-") ?? true
                guard isFirst || request["Cookie"] == "backend=7" else { return FaultReply(status: 403) }
                return Self.file.with {
                    $0.bytesPerSecond = Int(8 * mebibyte)
                    if isFirst { $0.fields.append(("Set-Cookie", "backend=7; Path=/")) }
                }
            }) { sandbox, server in
                try await sandbox.expectDownloaded(Self.content, by: "get", "-x", "4", server.url())
                #expect(server.log.entries.count > 1)
                #expect(server.log.entries.allSatisfy { $0.status == 206 })
            }
        }

        @Test("Each download of the background session has its own cookies")
        func background() async throws {
            try await withDlm(Self.asking) { sandbox, server in
                #expect(try await sandbox.run("get", "-b", server.url("/login")).ending == .exited(0))
                try await sandbox.expectDownloaded(Self.content, by: "wait", "1")
                #expect(try await sandbox.run("get", "-b", "-o", "next", server.url("/next")).ending == .exited(0))
                expectFailure(8, of: try await sandbox.perform("wait", "2"))
                #expect(try await sandbox.run("daemon", "stop").ending == .exited(0))
                try SecretSearch(sandbox: sandbox).expectNoTrace("the background session is over")
            }
        }

        @Test("A domain may set cookies for its subdomains, but not for a public suffix, and not for another domain")
        func domains() async throws {
            try await withDlm({ request in
                FaultReply(Content(request.target)).with {
                    if request.target == "/set" {
                        $0.fields += ["example.co.uk", "co.uk", "other.co.uk"].map {
                            ("Set-Cookie", "\($0.replacing(".", with: "-"))=1; Domain=\($0)")
                        }
                    }
                }
            }) { sandbox, server in
                let hosts = ["a.example.co.uk", "b.example.co.uk", "other.co.uk"]
                let words = hosts.flatMap { ["--resolve", "\($0):\(server.port):127.0.0.1"] }
                let urls = zip(hosts, ["set", "same", "foreign"]).map { "http://\($0):\(server.port)/\($1)" }
                try await sandbox.performDone(["get", "-j", "1"] + words + urls)
                #expect(server.log.entries.map { Self.sent($0) } == [[], ["example-co-uk=1"], []])
            }
        }

        @Test("Simultaneous downloads save their cookies in one jar, even if the jar is new and one download fails")
        func together() async throws {
            try await withDlm({ request in
                let name = String(request.target.dropFirst())
                let status = name == "bad" ? 404 : 200
                return (status == 200 ? FaultReply(Content(name)) : FaultReply(status: status)).with {
                    $0.fields.append(("Set-Cookie", "\(name)=1; Max-Age=3600"))
                }
            }) { sandbox, server in
                let names = (1...20).map { "file\($0)" }
                let result = try await sandbox.perform(
                    ["get", "--cookie-jar", sandbox.file("jar"), "--retries", "0"]
                        + (names + ["bad"]).map { server.url("/\($0)") })
                #expect(result.ending == .exited(8), "\(result.stderr)")
                let kept = try sandbox.root.read("files/jar").split(separator: "\n").compactMap {
                    $0.split(separator: "\t").dropFirst(5).first.map { String($0) }
                }
                #expect(Set(kept) == Set(names + ["bad"]), "\(kept)")
                #expect(sandbox.names.filter { $0.contains("jar") } == ["jar"])
            }
        }
    }
}
