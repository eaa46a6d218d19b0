import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadRPC

/// The ways that docs/web.md describes for access from another machine, tested on one machine.
@Suite("The RPC server behind ssh and a reverse proxy", .inTurn, .timeLimit(.minutes(2)))
struct ReverseProxyTests {
    /// Sends a request to another port, on which a proxy or ssh listens.
    private func ask(
        _ port: Int, _ method: String, _ path: String, _ body: String = "", host: String, fields: [String] = []
    ) async throws -> RawClient.Received {
        let client = try RawClient(port: port)
        defer { client.close() }
        let head = [
            "\(method) \(path) HTTP/1.1", "Host: \(host)", "Connection: close", "Content-Length: \(body.utf8.count)",
        ]
        client.send((head + fields).joined(separator: "\r\n") + "\r\n\r\n" + body)
        return try await client.answer()
    }

    /// Expects that the page, a call, the stream of events and a WebSocket work through a port.
    private func expectService(_ bench: RPCBench, at port: Int, host: String, origin: String) async throws {
        let page = try await ask(port, "GET", "/", host: host)
        #expect(page.status == 200 && page.text.contains("page.js"), "\(page.text)")
        let call = #"{"id":1,"method":"aria2.getVersion","params":["token:\#(bench.secret)"]}"#
        let answer = try await ask(port, "POST", "/jsonrpc", call, host: host, fields: ["Origin: \(origin)"])
        #expect(answer.status == 200 && answer.text.contains("1.37.0"), "\(answer.text)")
        #expect(
            try await ask(port, "POST", "/jsonrpc", call, host: host, fields: ["Origin: https://evil.example"]).status
                == 403)
        #expect(try await ask(port, "GET", "/", host: "evil.example").status == 421)
        let socket = try RawWebSocket(port, host: host, fields: ["Origin: \(origin)"])
        socket.send(call)
        #expect(await socket.message(with: #""id":1"#) != nil)
        let events = try RawClient(port: port)
        defer { events.close() }
        events.send("GET /v1/events HTTP/1.1\r\nHost: \(host)\r\n\(bench.bearer)\r\n\r\n")
        #expect(await events.received.wait { $0.text.contains("200 OK") })
        let gid = try #require(try await bench.call("aria2.addUri", ["http://127.0.0.1:9/x"], ["pause": "true"]).result)
        // An event comes at once, and not when a buffer of the proxy is full.
        #expect(await events.received.wait { $0.text.contains(#""event":"added""#) })
        #expect(try await bench.call("aria2.remove", gid).result == gid)
        socket.client.close()
    }

    @Test(
        "nginx with the lines of docs/web.md",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/sbin/nginx")))
    func nginx() async throws {
        let bench = try await RPCBench { $0.hosts = ["nas.example.org"] }
        let document = try String(contentsOfFile: "docs/web.md", encoding: .utf8)
        let block = try #require(
            document.split(separator: "```nginx\n").dropFirst().first?.split(separator: "```").first)
        #expect(block.contains("127.0.0.1:6800"))
        let port = try LoopbackSocket.unusedPort()
        let folder = bench.folder
        try folder.write(
            """
            daemon off;
            \(geteuid() == 0 ? "user root;" : "")
            pid \(folder("nginx.pid"));
            error_log stderr notice;
            events {}
            http {
                access_log off;
                client_body_temp_path \(folder("body"));
                proxy_temp_path \(folder("proxy"));
                fastcgi_temp_path \(folder("fastcgi"));
                uwsgi_temp_path \(folder("uwsgi"));
                scgi_temp_path \(folder("scgi"));
                server {
                    listen 127.0.0.1:\(port);
                    \(block.replacing("127.0.0.1:6800", with: "127.0.0.1:\(bench.port)"))
                }
            }

            """, to: "nginx.conf")
        let process = try ChildProcess(
            ProcessLaunch("/usr/sbin/nginx", ["-p", folder.path, "-c", folder("nginx.conf"), "-e", "stderr"]))
        try await process.waitToListen(at: port, "nginx", log: process.standardError)
        try await expectService(bench, at: port, host: "nas.example.org", origin: "https://nas.example.org")
        // Through the proxy, even a program on another machine connects from a loopback address. Without the secret it
        // gets no events.
        let stranger = try RawWebSocket(port, host: "nas.example.org")
        #expect(await stranger.status() == 101)
        let server = try FaultServer.serving(Content(seed: 1, size: 10))
        let gid = try #require(try await bench.call("aria2.addUri", [.string(server.url())]).result)
        _ = try await bench.waitForStatus(gid, "complete")
        stranger.send("asked", opcode: 9)
        #expect(await stranger.message(with: "asked") != nil)
        #expect(RawWebSocket.messages(stranger.client.received.value).map(\.text) == ["asked"])
        await process.stop()
        await bench.end()
    }

    @Test("ssh -L, with nothing changed on the machine that downloads", .enabled(if: OpenSSHServer.canRun))
    func ssh() async throws {
        let bench = try await RPCBench()
        let server = try await OpenSSHServer()
        let port = try LoopbackSocket.unusedPort()
        try bench.folder.write(server.knownHost, to: "known_hosts")
        let process = try ChildProcess(
            ProcessLaunch(
                "/usr/bin/ssh",
                [
                    "-F", "none", "-N", "-i", server.key, "-p", "\(server.port)", "-o", "BatchMode=yes",
                    "-o", "UserKnownHostsFile=\(bench.folder("known_hosts"))", "-o", "ExitOnForwardFailure=yes",
                    "-L", "127.0.0.1:\(port):127.0.0.1:\(bench.port)", "\(PrivateServer.user)@127.0.0.1",
                ]))
        try await process.waitToListen(at: port, "ssh", log: process.standardError)
        try await expectService(bench, at: port, host: "127.0.0.1:\(port)", origin: "http://127.0.0.1:\(port)")
        await process.stop()
        await server.stop()
        await bench.end()
    }
}
