import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadRPC

/// Attempts of an untrusted web page, in a browser that the server's user trusts.
@Suite("Attacks on the RPC server: names, origins and methods", .inTurn, .timeLimit(.minutes(2)))
struct AccessTests {
    private static let add =
        #"{"id":1,"method":"aria2.addUri","params":["token:SECRET",["http://127.0.0.1:9/x"],{"pause":"true"}]}"#

    @Test("A request for a name that was pointed at this machine is refused (DNS rebinding)")
    func rebinding() async throws {
        let bench = try await RPCBench { $0.hosts = ["nas.example.org"] }
        let add = Self.add.replacing("SECRET", with: bench.secret)
        let strange = [
            "evil.example", "evil.example:\(bench.port)", "127.0.0.1.evil.example", "localhost.evil.example", "",
            "[::1", "127.0.0.1@evil.example", "local host", "localhost:80:80", "nas.example.org..", "2130706433",
        ]
        for host in strange {
            for (method, path) in [("GET", "/"), ("POST", "/jsonrpc"), ("GET", "/v1/session"), ("OPTIONS", "/jsonrpc")]
            {
                let answer = try await bench.ask(method, path, add, host: host, fields: [bench.bearer])
                #expect(answer.status == 421, "\(host) \(path)")
            }
        }
        #expect(try await bench.isEmpty)
        let twice = try await bench.ask("POST", "/jsonrpc", add, fields: ["Host: evil.example"])
        #expect(twice.status == 400)
        let rule = AccessRule(RPCConfiguration(folders: ["/tmp"], stateFolder: "/tmp/s"))
        #expect(rule.answersTo(["localhost"]) && !rule.answersTo(["localhost", "evil.example"]) && !rule.answersTo([]))
        let client = try RawClient(port: bench.port)
        client.send("GET / HTTP/1.1\r\nConnection: close\r\n\r\n")
        #expect(try await client.answer().status == 400)
        for host in [
            "localhost", "localhost:", "[::1]:", "LOCALHOST:1", "127.0.0.1", "[::1]:6800", "192.0.2.7",
            "nas.example.org.:443",
        ] {
            #expect(try await bench.ask("GET", "/", host: host).status == 200, "\(host)")
        }
        await bench.end()
    }

    @Test("Requests of other pages are refused, even those that browsers send without asking (CSRF)")
    func otherPages() async throws {
        let bench = try await RPCBench { $0.origins = ["https://aria.example"] }
        let add = Self.add.replacing("SECRET", with: bench.secret)
        let strange = [
            "https://evil.example", "null", "http://127.0.0.1:\(bench.port + 1)",
            "http://127.0.0.1:\(bench.port).evil.example",
            "https://aria.example.evil.example", "http://aria.example", "file://", "chrome-extension.evil://x", "",
        ]
        for origin in strange {
            for type in ["text/plain", "application/x-www-form-urlencoded", "application/json"] {
                let answer = try await bench.ask(
                    "POST", "/jsonrpc", add, fields: ["Origin: \(origin)", "Content-Type: \(type)"])
                #expect(answer.status == 403, "\(origin)")
            }
            #expect(try await bench.ask("OPTIONS", "/jsonrpc", fields: ["Origin: \(origin)"]).status == 403)
            #expect(
                try await bench.ask("GET", "/v1/downloads", fields: ["Origin: \(origin)", bench.bearer]).status == 403)
        }
        #expect(try await bench.isEmpty)
        let known = [
            "http://127.0.0.1:\(bench.port)", "https://127.0.0.1:\(bench.port)", "chrome-extension://abc",
            "moz-extension://0f-1", "https://ARIA.example",
        ]
        for origin in known {
            let answer = try await bench.ask("POST", "/jsonrpc", add, fields: ["Origin: \(origin)"])
            #expect(answer.status == 200, "\(origin)")
            #expect(answer.text.contains("Access-Control-Allow-Origin: \(origin)\r\n"))
            #expect(try await bench.ask("OPTIONS", "/jsonrpc", fields: ["Origin: \(origin)"]).status == 204)
        }
        await bench.end()
    }

    @Test("A WebSocket of another page is refused, because a browser opens one without asking")
    func otherPagesSockets() async throws {
        let bench = try await RPCBench()
        for (host, origin, status) in [
            (nil, "https://evil.example", 403), (nil, "null", 403), ("evil.example", nil, 421),
            (nil, "http://127.0.0.1:\(bench.port)", 101), (nil, "moz-extension://a", 101), (nil, nil, 101),
        ] as [(String?, String?, Int)] {
            let socket = try RawWebSocket(bench.port, host: host, fields: origin.map { ["Origin: \($0)"] } ?? [])
            #expect(await socket.status() == status, "\(host ?? "") \(origin ?? "")")
            socket.client.close()
        }
        #expect(await RawWebSocket.status(bench.port, path: "/v1") == 401)
        #expect(await RawWebSocket.status(bench.port, path: "/") == 200)
        await bench.end()
    }

    @Test("GET changes nothing, and no answer is a script (JSONP)")
    func methods() async throws {
        let bench = try await RPCBench()
        let parameters = Data(#"["token:\#(bench.secret)",["http://127.0.0.1:9/x"]]"#.utf8).base64EncodedString()
        let query = "method=aria2.addUri&id=1&params=\(parameters)&jsoncallback=f"
        for method in ["GET", "HEAD", "PUT", "DELETE", "TRACE"] {
            let answer = try await bench.ask(method, "/jsonrpc?\(query)", fields: [bench.bearer])
            #expect(answer.status == 405, "\(method)")
            #expect(!answer.text.contains("javascript"))
        }
        #expect(try await bench.isEmpty)
        await bench.end()
    }

    @Test(
        "No answer is open to all pages, and no type is guessed; the page is in no frame and has no inline script"
    )
    func fields() async throws {
        let bench = try await RPCBench()
        let origin = "Origin: http://127.0.0.1:\(bench.port)"
        for (method, path) in [
            ("GET", "/"), ("GET", "/page.js"), ("POST", "/jsonrpc"), ("GET", "/v1/session"), ("OPTIONS", "/x"),
        ] {
            let text = try await bench.ask(method, path, fields: [origin, bench.bearer]).text
            #expect(!text.contains("Access-Control-Allow-Origin: *"), "\(path)")
            #expect(text.contains("X-Content-Type-Options: nosniff"), "\(path)")
            #expect(text.contains("Vary: Origin"), "\(path)")
        }
        let page = try await bench.ask("GET", "/").text
        #expect(page.contains("default-src 'self'") && page.contains("frame-ancestors 'none'"))
        #expect(page.contains("base-uri 'none'") && page.contains("X-Frame-Options: DENY"))
        #expect(!page.contains("unsafe-inline") && !page.contains("<script>") && !page.contains(" style="))
        await bench.end()
    }

    @Test("The page has less than 90 kB")
    func pageSize() { #expect(PageFile.all.reduce(0) { $0 + $1.bytes.count } < 90_000) }

    @Test("HEAD is answered as GET, without the body")
    func head() async throws {
        let bench = try await RPCBench()
        for (path, status) in [("/", 200), ("/page.js", 200), ("/no", 404), ("/v1/session", 401), ("/metrics", 401)] {
            let (get, head) = (try await bench.ask("GET", path), try await bench.ask("HEAD", path))
            #expect(get.status == status && head.status == status && head.body == "" && get.body != "", "\(path)")
            let length = "Content-Length: \(get.body.utf8.count)\r\n"
            #expect(get.text.contains(length) && head.text.contains(length), "\(path)")
        }
        await bench.end()
    }

    @Test("Another version of the API in the path is incompatible, as on the Unix socket")
    func otherVersion() async throws {
        let bench = try await RPCBench()
        for path in ["/v2/session", "/v2", "/v0/downloads"] {
            let answer = try await bench.ask("GET", path, fields: [bench.bearer])
            #expect(answer.status == 400 && answer.text.contains(#""incompatible""#), "\(path) \(answer.text)")
            #expect(try await bench.ask("GET", path).status == 401)
        }
        await bench.end()
    }

    @Test("A final dot of the name, and a target in absolute form, mean the same as without them")
    func forms() async throws {
        let bench = try await RPCBench()
        #expect(try await bench.ask("GET", "/", host: "localhost.").status == 200)
        #expect(try await bench.ask("GET", "/", host: "evil.example.").status == 421)
        let own = "http://127.0.0.1:\(bench.port)"
        #expect(try await bench.ask("GET", "\(own)/page.js", host: "evil.example").status == 200)
        #expect(try await bench.ask("GET", own).status == 200)
        #expect(try await bench.ask("GET", "\(own)/v1/session", fields: [bench.bearer]).status == 200)
        #expect(try await bench.ask("GET", "http://evil.example/v1/session", fields: [bench.bearer]).status == 421)
        await bench.end()
    }

    @Test("An error for a client of the network is a line and a code, without dlm's own form of it")
    func errors() async throws {
        let bench = try await RPCBench()
        let body = #"{"urls":["http://h/x"],"folder":"/etc"}"#
        for answer in [
            try await bench.ask("POST", "/v1/downloads", body, fields: [bench.bearer]),
            try await bench.ask("POST", "/v1/downloads", "{", fields: [bench.bearer]),
            try await bench.ask("GET", "/", fields: ["X: " + String(repeating: "a", count: 20 << 10)]),
        ] {
            let error = try #require(try answer.json["error"] as? [String: Any])
            #expect(error["download"] == nil && error["kind"] as? String == "session", "\(answer.text)")
            #expect((error["message"] as? String)?.isEmpty == false)
        }
        await bench.end()
    }

    @Test("An answer is compressed for a client that accepts it, and a list has only the fields that are asked for")
    func compression() async throws {
        let bench = try await RPCBench()
        for number in 0..<40 {
            _ = try await bench.call("aria2.addUri", [.string("http://127.0.0.1:9/\(number)")], ["pause": "true"])
        }
        let path = "/v1/downloads?all=true&fields=id,name"
        let plain = try await bench.ask("GET", path, fields: [bench.bearer, "Accept-Encoding: gzip;q=0, br"])
        let rows = try #require(try plain.json["downloads"] as? [[String: Any]])
        #expect(rows.count == 40 && rows.allSatisfy { Set($0.keys) == ["id", "name"] })
        #expect(try await bench.ask("GET", "/v1/downloads?fields=x", fields: [bench.bearer]).status == 400)
        for path in [path, "/page.js"] {
            let small = try await bench.ask("GET", path, fields: [bench.bearer, "Accept-Encoding: gzip, deflate"])
            let large = try await bench.ask("GET", path, fields: [bench.bearer])
            #expect(small.text.contains("Content-Encoding: gzip") && !large.text.contains("Content-Encoding"))
            #expect(small.bytes.count * 2 < large.bytes.count)
            #expect(try gunzip(small) == (path == "/page.js" ? large.body : gunzip(large)))
        }
        await bench.end()
    }

    /// Returns the content of a chunked answer, through gzip(1) if it is compressed.
    private func gunzip(_ answer: RawClient.Received) throws -> String {
        let end = try #require(answer.bytes.firstRange(of: Array("\r\n\r\n".utf8))).upperBound
        var (rest, content) = (answer.bytes[end...], Data())
        while let line = rest.firstRange(of: Array("\r\n".utf8)) {
            let count = try #require(Int(String(decoding: rest[..<line.lowerBound], as: UTF8.self), radix: 16))
            content.append(contentsOf: rest[line.upperBound..<line.upperBound + count])
            rest = rest[(line.upperBound + count + 2)...]
        }
        guard answer.text.contains("Content-Encoding: gzip") else { return String(decoding: content, as: UTF8.self) }
        let process = Process()
        let (input, output) = (Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/bin/gzip")
        process.arguments = ["-dc"]
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
        input.fileHandleForWriting.write(content)
        try input.fileHandleForWriting.close()
        return String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    }

    @Test("No path leads to a file of this machine")
    func paths() async throws {
        let bench = try await RPCBench()
        for path in [
            "/../../../../etc/passwd", "/..%2f..%2f..%2fetc/passwd", "//etc/passwd", "/%2e%2e/rpc-secret",
            "/page.js/..",
            "/.%00./x", "/state/rpc-secret", "/index.html%00.png",
        ] {
            let answer = try await bench.ask("GET", path)
            #expect(answer.status == 404, "\(path)")
            #expect(!answer.text.contains("root:") && !answer.text.contains(bench.secret))
        }
        await bench.end()
    }
}

extension RawWebSocket {
    static func status(_ port: Int, path: String) async -> Int {
        guard let socket = try? RawWebSocket(port, path: path) else { return 0 }
        defer { socket.client.close() }
        return await socket.status()
    }
}
