import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Secrets and redirects", .serialized, .timeLimit(.minutes(2)))
    struct RedirectSecretTests {
        static let content = Content(seed: 720, size: 9 * mebibyte + 3)
        static let fields = ["Authorization", "Cookie", "X-Api-Key", "X-Custom"]
        static let headers = ["Cookie: id=\(SecretSearch.cookie)", "X-Api-Key: \(SecretSearch.key)", "X-Custom: plain"]
            .flatMap { ["-H", $0] }

        static func carried(_ entry: ServerLog.Entry) -> [String] { fields.filter { entry.request[$0] != nil } }

        static var file: FaultReply { FaultReply(content, etag: "\"v1\"") }

        func url(_ server: FaultServer, _ path: String = "/start") -> String {
            "http://ann:\(SecretSearch.password)@127.0.0.1:\(server.port)\(path)"
        }

        func get(_ url: String, in sandbox: DlmSandbox, _ options: String...) async throws -> ChildProcess.Result {
            try await sandbox.perform(["get"] + options + Self.headers + [url])
        }

        @Test(
            "Another port, host or spelling of the host is another origin, and gets no secret on any connection",
            arguments: [
                "http://127.0.0.1:OTHER/file.bin", "http://localhost:PORT/file.bin", "//ann:x@127.1:OTHER/file.bin",
                "http://eve:other@127.0.0.1:OTHER/file.bin", "http://127.0.0.2:PORT/file.bin",
            ],
            [1, 4])
        func otherOrigin(location: String, connections: Int) async throws {
            let other = try FaultServer { _ in Self.file }
            let server = try FaultServer { _ in Self.file }
            let target = location.replacing("OTHER", with: "\(other.port)").replacing("PORT", with: "\(server.port)")
            server.handle { $0.target == "/start" ? .redirect(to: target) : Self.file }
            try await withDlm { sandbox in
                let result = try await get(url(server), in: sandbox, "-x", "\(connections)", "--retries", "0")
                let fetched = (server.log.entries + other.log.entries).filter { $0.request.target == "/file.bin" }
                if location.contains("127.0.0.2") {
                    // The server listens at another address, so the connection is refused.
                    #expect(result.ending == .exited(4), "\(result.stderr)")
                } else {
                    try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox)
                    #expect(fetched.count >= connections)
                }
                #expect(server.log.entries.first.map(Self.carried) == Self.fields)
                for entry in fetched {
                    #expect(Self.carried(entry).isEmpty)
                    #expect(entry.request["Referer"] == nil)
                }
                FaultTrial(area: .http, fault: "credentials, redirected to \(location)", connections: connections)
                    .note(outcome: fetched.allSatisfy { Self.carried($0).isEmpty } ? "right" : "WRONG: sent")
            }
        }

        @Test(
            "A new URL of another origin gets none of the old secrets, only its own password", arguments: [false, true])
        func moved(hasPassword: Bool) async throws {
            let other = try FaultServer { _ in Self.file }
            try await withDlm({ _ in Self.file.with { $0.cut = .stall(after: mebibyte) } }) { sandbox, server in
                let first = try sandbox.start(["get", "-x", "1"] + Self.headers + [url(server)])
                #expect(await server.waitUntil { $0.bytesSent >= mebibyte })
                try await sandbox.waitToShow(1) { $0.received >= mebibyte }
                let target = hasPassword ? url(other, "/x").replacing("ann", with: "bob") : other.url("/x")
                try await sandbox.performDone("set-url", "1", target)
                try expectDownloaded(Self.content, as: "start", by: try await first.result(), in: sandbox)
                let basic = Data("bob:\(SecretSearch.password)".utf8).base64EncodedString()
                #expect(other.log.entries.count >= 1)
                for entry in other.log.entries {
                    #expect(entry.request["Authorization"] == (hasPassword ? "Basic \(basic)" : nil))
                    #expect(entry.request["Cookie"] == nil && entry.request["X-Api-Key"] == nil)
                }
            }
        }
    }
}
