import DownloadTestSupport
import Foundation
import Testing

func withProxy(
    _ kind: RealProxy.Kind, user: (String, String)? = nil, _ body: (RealProxy) async throws -> Void
) async throws {
    let proxy = try await RealProxy(kind, user: user)
    try await finally({ await proxy.stop() }) { try await body(proxy) }
}

extension DlmSandbox {
    /// Returns the options with which dlm trusts only these certificate authorities.
    func trust(_ authorities: [String?]) throws -> [String] {
        let text = try authorities.compactMap { $0 }.map { try String(contentsOfFile: $0, encoding: .utf8) }.joined()
        try root.write(text, to: "authorities.pem")
        return ["--ca-certificate", root("authorities.pem")]
    }
}

extension EndToEnd {
    @Suite(
        "Real proxies", .serialized, .timeLimit(.minutes(3)),
        .enabled(if: RealProxy.canRun, "needs tinyproxy, microsocks, OpenSSH, nginx and root"))
    struct RealProxyTests {
        static let content = Content(seed: 781, size: 9 * mebibyte + 5)

        @Test(
            "http and https through a proxy, over several connections",
            arguments: RealProxy.Kind.allCases, ["http", "https"])
        func download(kind: RealProxy.Kind, scheme: String) async throws {
            try await withProxy(kind) { proxy in
                try await withNginx { sandbox, nginx in
                    try nginx.add(Self.content, as: "file.bin")
                    let trust = try sandbox.trust([nginx.certificates.authority, proxy.authority])
                    let url = scheme == "http" ? nginx.url("/file.bin") : nginx.secureURL("/file.bin")
                    let words = ["get", "-x", "4", "--retries", "0", "--proxy", proxy.url()] + trust + [url]
                    try await sandbox.expectDownloaded(Self.content, byProcess: words, what: kind)
                    #expect(await proxy.waitForConnections(2), "\(proxy.connections)")
                }
            }
            ProtocolTable.note("\(kind)://", scheme, "segments")
        }

        @Test(
            "no_proxy supports names, domains and networks",
            arguments: [
                ("127.0.0.0/8", true), ("10.0.0.0/8,127.0.0.1/32", true), ("10.0.0.0/8", false), ("localhost", false),
                ("127.0.0.1", true), ("*", true),
            ], [false, true])
        func exceptions(list: (String, Bool), asOption: Bool) async throws {
            try await withProxy(.http) { proxy in
                try await withNginx { sandbox, nginx in
                    try nginx.add(Self.content, as: "file.bin")
                    let result = try await sandbox.run("get", "--retries", "0", nginx.url("/file.bin")) { launch in
                        launch.environment["http_proxy"] = proxy.url()
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
        }

        @Test(
            "A background download uses the proxy of its own command, not of the command that started the session"
        )
        func background() async throws {
            try await withDlm({ request in
                request["Proxy-Authorization"] == "Basic \(SecretSearch.basic)"
                    ? FaultReply(Self.content, etag: "\"v1\"") : FaultReply(status: 407)
            }) { sandbox, proxy in
                let search = SecretSearch(sandbox: sandbox)
                let address = "http://ann:\(SecretSearch.password)@127.0.0.1:\(proxy.port)"
                let first = try await sandbox.done("get", "-b", "--retries", "0", "http://nowhere.example/a") {
                    $0.environment["http_proxy"] = address
                }
                try await sandbox.waitForStates { $0 == ["completed"] }
                try expectFile(Self.content, "a", in: sandbox)
                search.expectSilent(first)
                try search.expectNoTrace("finished")
                // A command without a proxy contacts the proxy directly, like a server, and the proxy answers.
                let url = "http://127.0.0.1:\(proxy.port)/b"
                try await sandbox.done("get", "-b", "--retries", "0", url)
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
