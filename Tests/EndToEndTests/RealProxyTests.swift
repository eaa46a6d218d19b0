import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite(
        "Real proxies", .timeLimit(.minutes(3)),
        .enabled(
            if: RealProxy.Kind.http.isPossible && RealProxy.Kind.socks.isPossible,
            "real proxies take tinyproxy, OpenSSH and root"))
    struct RealProxyTests {
        static let content = Content(seed: 781, size: 9 * mebibyte + 5)
        static let kinds = ["http", "socks4", "socks4a", "socks5", "socks5h"]

        func withProxy(
            _ kind: RealProxy.Kind, user: (String, String)? = nil,
            _ body: (DlmSandbox, Nginx, RealProxy) async throws -> Void
        ) async throws {
            let proxy = try await RealProxy(kind, user: user)
            do {
                try await withNginx { sandbox, nginx in
                    try nginx.add(Self.content, as: "file.bin")
                    try await body(sandbox, nginx, proxy)
                }
            } catch {
                await proxy.stop()
                throw error
            }
            await proxy.stop()
        }

        private func kindOf(_ kind: String) -> RealProxy.Kind { kind == "http" ? .http : .socks }

        @Test("http and https, over several connections", arguments: kinds, ["http", "https"])
        func download(kind: String, scheme: String) async throws {
            try await withProxy(kindOf(kind)) { sandbox, nginx, proxy in
                let url = scheme == "http" ? nginx.url("/file.bin") : nginx.secureURL("/file.bin")
                let words = [
                    "get", "-x", "4", "--retries", "0", "--proxy", "\(kind)://127.0.0.1:\(proxy.port)",
                    "--ca-certificate", nginx.certificates.authority, url,
                ]
                let result = try await ChildProcess(try sandbox.launch(words)).result()
                try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox, kind)
                #expect(proxy.connections >= 2, "\(proxy.connections)")
            }
        }

        @Test("Goes on after kill -9", arguments: kinds)
        func resume(kind: String) async throws {
            try await withProxy(kindOf(kind)) { sandbox, nginx, proxy in
                let words = [
                    "get", "-x", "1", "--proxy", "\(kind)://127.0.0.1:\(proxy.port)", nginx.url("/slow/file.bin"),
                ]
                let first = try ChildProcess(try sandbox.launch(words))
                try await sandbox.waitForStates { $0.count == 1 }
                try await sandbox.waitToShow(1) { $0.received >= mebibyte }
                first.send(SIGKILL)
                _ = try await first.result()
                let result = try await sandbox.run("resume", "1")
                try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox, kind)
                #expect(await nginx.waitUntil { $0.last.map { $0.range != "bytes=0-" && $0.range != "-" } ?? false })
            }
        }

        @Test("tinyproxy wants a name and a password, for http and for tunnels")
        func authentication() async throws {
            try await withProxy(.http, user: ("ann", "pw")) { sandbox, nginx, proxy in
                let trust = ["--retries", "0", "--ca-certificate", nginx.certificates.authority]
                for (index, url) in [nginx.url("/file.bin"), nginx.secureURL("/file.bin")].enumerated() {
                    let right = try await ChildProcess(
                        try sandbox.launch(
                            ["get", "-o", "\(index)", "--proxy", "http://ann:pw@127.0.0.1:\(proxy.port)", url] + trust)
                    ).result()
                    try expectDownloaded(Self.content, as: "\(index)", by: right, in: sandbox)
                    let wrong = try await ChildProcess(
                        try sandbox.launch(
                            ["get", "-o", "w\(index)", "--proxy", "http://ann:no@127.0.0.1:\(proxy.port)", url] + trust)
                    ).result()
                    #expect(wrong.ending != .exited(0))
                    #expect(wrong.errorLines.count == 1, "\(wrong.stderr)")
                }
            }
        }

        @Test(
            "no_proxy knows names, domains and networks",
            arguments: [
                ("127.0.0.0/8", true), ("10.0.0.0/8,127.0.0.1/32", true), ("10.0.0.0/8", false), ("localhost", false),
                ("127.0.0.1", true), ("*", true),
            ], [false, true])
        func exceptions(list: (String, Bool), asOption: Bool) async throws {
            try await withProxy(.http) { sandbox, nginx, proxy in
                let result = try await sandbox.run("get", "--retries", "0", nginx.url("/file.bin")) { launch in
                    launch.environment["http_proxy"] = "http://127.0.0.1:\(proxy.port)"
                    if asOption {
                        launch.arguments += ["--no-proxy", list.0]
                    } else {
                        launch.environment["no_proxy"] = list.0
                    }
                }
                try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox, list.0)
                #expect((proxy.connections == 0) == list.1, "\(list.0)")
            }
        }

        @Test(
            "The background session goes the way of the command that added the download, not of the one that started it"
        )
        func background() async throws {
            try await withDlm({ request in
                request["Proxy-Authorization"] == "Basic \(SecretSearch.basic)"
                    ? FaultReply(Self.content, etag: "\"v1\"") : FaultReply(status: 407)
            }) { sandbox, proxy in
                let search = SecretSearch(sandbox: sandbox)
                let address = "http://ann:\(SecretSearch.password)@127.0.0.1:\(proxy.port)"
                let first = try await sandbox.run("get", "-b", "--retries", "0", "http://nowhere.example/a") {
                    $0.environment["http_proxy"] = address
                }
                #expect(first.ending == .exited(0), "\(first.stderr)")
                try await sandbox.waitForStates { $0 == ["completed"] }
                try expectFile(Self.content, "a", in: sandbox)
                search.expectSilent(first)
                try search.expectNoTrace("finished")
                // Whoever has no proxy goes straight, and is answered by the proxy itself: it is asked as a server.
                let url = "http://127.0.0.1:\(proxy.port)/b"
                let second = try await sandbox.run("get", "-b", "--retries", "0", url)
                #expect(second.ending == .exited(0), "\(second.stderr)")
                try await sandbox.waitForStates { $0 == ["completed", "failed"] }
                #expect(proxy.log.entries.last?.request.target == "/b")
                let wrong = try await sandbox.run("get", "-b", "http://nowhere.example/c") {
                    $0.environment["http_proxy"] = "ftp://127.0.0.1"
                }
                #expect(wrong.ending == .exited(2) || wrong.ending == .exited(64), "\(wrong.stderr)")
            }
        }
    }
}
