import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Network options", .serialized, .timeLimit(.minutes(2)))
    struct NetworkOptionTests {
        static let content = Content(seed: 780, size: 9 * mebibyte + 3)
        static var file: FaultReply { FaultReply(content, etag: "\"v1\"") }
        static let host = "nowhere.example"

        func run(
            _ sandbox: DlmSandbox, _ words: [String], environment: [String: String] = [:]
        ) async throws -> ChildProcess.Result {
            var launch = try sandbox.launch(["get", "--retries", "0"] + words)
            launch.environment.merge(environment) { $1 }
            return try await ChildProcess(launch).result()
        }

        @Test(
            "With --proxy, every request goes to the proxy with its user name and password; no password is stored")
        func proxy() async throws {
            try await withDlm({ request in
                request["Proxy-Authorization"] == "Basic \(SecretSearch.basic)" ? Self.file : FaultReply(status: 407)
            }) { sandbox, proxy in
                let search = SecretSearch(sandbox: sandbox)
                let address = "http://ann:\(SecretSearch.password)@127.0.0.1:\(proxy.port)"
                let url = "http://\(Self.host)/file.bin"
                let result = try await run(sandbox, ["-v", "-x", "4", "--proxy", address, url])
                try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox)
                #expect(proxy.log.entries.count > 3)
                for entry in proxy.log.entries { #expect(entry.request.target == url) }
                search.expectSilent(result)
                try search.expectNoTrace("finished")
                try await search.askAll("finished")
                let bare = "127.0.0.1:\(proxy.port)"
                for wrong in [bare, "http://ann:wrong@\(bare)"] {
                    expectFailure(6, of: try await run(sandbox, ["--proxy", wrong, "-o", "b", url]), wrong)
                }
                let secure = try await run(sandbox, ["--proxy", bare, "https://\(Self.host)/c"])
                expectFailure(6, of: secure)
                #expect(proxy.log.entries.last?.request.method == "CONNECT")
            }
        }

        @Test(
            "After a kill, resume says that it needs the proxy's password; a background session keeps it in memory",
            arguments: [false, true])
        func resumed(inBackground: Bool) async throws {
            let gate = Gate(after: 2 * mebibyte)
            try await withDlm({ _ in Self.file.with { $0.gate = gate } }) { sandbox, proxy in
                let address = "http://ann:\(SecretSearch.password)@127.0.0.1:\(proxy.port)"
                let words = ["--proxy", address, "http://\(Self.host)/file.bin"]
                if inBackground {
                    _ = try await run(sandbox, ["-b"] + words)
                    #expect(await proxy.waitUntil { $0.bytesSent >= 2 * mebibyte })
                    try await sandbox.waitToShow(1) { $0.received >= mebibyte }
                    // The session keeps the password in memory.
                    try await sandbox.done("pause", "1")
                    gate.open()
                    try await sandbox.done("resume", "-b", "1")
                    try await sandbox.expectDownloaded(Self.content, by: "wait", "1")
                    return
                }
                let first = try sandbox.start(["get"] + words)
                #expect(await proxy.waitUntil { $0.bytesSent >= 2 * mebibyte })
                try await sandbox.waitToShow(1) { $0.received >= mebibyte }
                try await first.killed()
                gate.open()
                let without = try await sandbox.perform("resume", "1")
                expectFailure(2, of: without)
                #expect(without.stderr.contains("--proxy"), "\(without.stderr)")
                try await sandbox.expectDownloaded(Self.content, by: "resume", "1", "--proxy", address)
                #expect(proxy.log.entries.allSatisfy { $0.request["Proxy-Authorization"] != nil })
            }
        }

        @Test("--interface takes an address or an interface; an unknown address or interface gives exit status 4")
        func interface() async throws {
            try await withDlm(serving: Self.file) { sandbox, server in
                for (index, name) in ["127.0.0.5", "lo"].enumerated() {
                    let result = try await run(sandbox, ["--interface", name, server.url("/\(index)")])
                    try expectDownloaded(Self.content, as: "\(index)", by: result, in: sandbox)
                }
                #expect(server.log.entries.first?.request.peer == "127.0.0.5")
                for name in ["nope0", "192.0.2.1"] {
                    expectFailure(4, of: try await run(sandbox, ["--interface", name, server.url("/x")]), name)
                }
            }
        }

        @Test("-4 uses only IPv4 addresses, and -6 uses only IPv6 addresses")
        func family() async throws {
            try await withDlm(serving: Self.file) { sandbox, server in
                let url = "http://localhost:\(server.port)/file.bin"
                let result = try await run(sandbox, ["-4", url])
                try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox)
                // The server has no IPv6 address.
                let before = server.log
                expectFailure(4, of: try await run(sandbox, ["-6", "-o", "b", url]))
                #expect(
                    server.log.connections == before.connections && server.log.entries.count == before.entries.count)
            }
        }

        @Test("--http2 also applies to one large file, and --http1.1 also applies to many small files")
        func versions() async throws {
            try await withNginx { sandbox, nginx in
                let path = try nginx.add(Self.content, as: "large.bin")
                let words = ["--ca-certificate", nginx.certificates.authority]
                let large = try await run(sandbox, words + ["--http2", nginx.secureURL(path)])
                try expectDownloaded(Self.content, as: "large.bin", by: large, in: sandbox)
                #expect(await nginx.waitUntil { !$0.isEmpty && $0.allSatisfy { $0.version == "HTTP/2.0" } })
                let before = nginx.log.count
                let urls = try (0..<40).map { nginx.secureURL(try nginx.add(Content("\($0)"), as: "\($0)")) }
                let many = try await run(sandbox, words + ["--http1.1"] + urls)
                #expect(many.ending == .exited(0), "\(many.stderr)")
                #expect(await nginx.waitUntil { $0.count >= before + 40 })
                #expect(nginx.log.dropFirst(before).allSatisfy { $0.version == "HTTP/1.1" })
            }
        }

        @Test(
            "--resolve sets the address of a host and port for one download, and the Host field keeps the name")
        func resolve() async throws {
            try await withDlm(serving: Self.file) { sandbox, server in
                let url = "http://\(Self.host):\(server.port)/file.bin"
                let words = ["-x", "4", "--resolve", "\(Self.host):\(server.port):127.0.0.1"]
                let result = try await run(sandbox, words + [url])
                try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox)
                #expect(server.log.entries.allSatisfy { $0.request["Host"] == "\(Self.host):\(server.port)" })
                _ = try await run(sandbox, ["-b"] + words + ["-o", "b", url])
                #expect(try await sandbox.perform("wait", "2").ending == .exited(0))
                _ = try await run(sandbox, ["-b", "-o", "c", url])
                #expect(try await sandbox.perform("wait", "3").ending == .exited(4))
            }
        }

        @Test(
            "A download whose address is slow goes on with another one, but not if that is down or has another version",
            arguments: ["1", "4"])
        func slowAddress(connections: String) async throws {
            let slow = try FaultServer(host: 2) { _ in Self.file.with { $0.bytesPerSecond = 150_000 } }
            let other = try FaultServer(port: slow.port, host: 3) { _ in
                FaultReply(Content(seed: 781, size: Self.content.size), etag: "\"v2\"")
            }
            let fast = try FaultServer(port: slow.port, host: 4) { _ in Self.file }
            try await withDlm { sandbox in
                // Nothing listens at 127.0.0.9.
                let pinned = "\(Self.host):\(slow.port):127.0.0.2,127.0.0.9,127.0.0.3,127.0.0.4"
                let url = "http://\(Self.host):\(slow.port)/file.bin"
                let result = try await sandbox.perform(["get", "-x", connections, "--resolve", pinned, url])
                try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox)
                #expect(slow.log.bytesSent < Self.content.size / 2)
                #expect(other.log.entries.count == 1)
                #expect(!fast.log.entries.isEmpty)
                for server in [slow, other, fast] {
                    #expect(server.log.entries.allSatisfy { $0.request["Host"] == "\(Self.host):\(slow.port)" })
                }
                let shown = try await sandbox.perform("show", "1")
                #expect(shown.stdout.contains("127.0.0.9, 127.0.0.3, 127.0.0.4"), "\(shown.stdout)")
                // The failures are no failures of the attempt.
                #expect(shown.stdout.components(separatedBy: "iB in ").count == 2, "\(shown.stdout)")
            }
        }

        @Test("--doh-url looks up host names at the given server")
        func nameServer() async throws {
            let answer = Content(Self.answer(for: Self.host, [127, 0, 0, 1]))
            try await withSecureDlm(
                { _ in
                    FaultReply(answer).with { $0.fields = [("Content-Type", "application/dns-message")] }
                }
            ) { site in
                let server = try FaultServer { _ in Self.file }
                let words = [
                    "--ca-certificate", site.certificates.authority, "--doh-url", site.server.url("/dns-query"),
                    "http://\(Self.host):\(server.port)/file.bin",
                ]
                let result = try await run(site.sandbox, words)
                try expectDownloaded(Self.content, as: "file.bin", by: result, in: site.sandbox)
                #expect(site.server.log.requests(to: "/dns-query").count >= 1)
            }
        }

        /// Returns a DNS message (RFC 1035, section 4) with one address of the host.
        private static func answer(for host: String, _ address: [UInt8]) -> [UInt8] {
            var message: [UInt8] = [0, 0, 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0]
            for label in host.split(separator: ".") { message += [UInt8(label.utf8.count)] + Array(label.utf8) }
            message += [0, 0, 1, 0, 1]
            // The name is repeated by a pointer to the question.
            message += [0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4]
            return message + address
        }
    }
}
