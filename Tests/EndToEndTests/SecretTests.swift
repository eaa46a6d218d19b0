import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Secrets", .timeLimit(.minutes(1)))
    struct SecretTests {
        static let secret = "s3cret-t0ken"

        @Test(
            "Credentials reach the server, and neither the store nor what is printed",
            arguments: [["-v"], ["--json"], ["-v", "-v"]])
        func kept(options: [String]) async throws {
            try await withDlm({ $0.target == "/no" ? FaultReply(status: 403) : FaultReply(Content("hello")) }) {
                sandbox, server in
                for path in ["/yes", "/no"] {
                    let url = "http://user:\(Self.secret)@127.0.0.1:\(server.port)\(path)"
                    let arguments = ["get"] + options + ["-H", "X-Auth-Token: \(Self.secret)", url]
                    let result = try await ChildProcess(try sandbox.launch(arguments)).result()
                    #expect(!(result.stdout + result.stderr).contains(Self.secret), "\(path)")
                    let request = try #require(server.log.requests(to: path).first?.request)
                    #expect(request["X-Auth-Token"] == Self.secret)
                    let basic = Data("user:\(Self.secret)".utf8).base64EncodedString()
                    #expect(request["Authorization"] == "Basic \(basic)")
                }
                try expectNoTrace(in: sandbox)
            }
        }

        @Test("The folder of the store is for its owner alone")
        func permissions() async throws {
            try await withDlm(serving: FaultReply(Content("hello"))) { sandbox, server in
                _ = try await sandbox.run("get", server.url())
                let attributes = try FileManager.default.attributesOfItem(atPath: sandbox.root("state/dlm"))
                #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o700)
            }
        }

        @Test("Neither credentials nor the user's header fields follow a redirect to another origin")
        func otherOrigin() async throws {
            let other = try FaultServer.serving(Content("hello"))
            defer { other.stop() }
            let target = other.url("/there")
            try await withDlm({ _ in .redirect(to: target) }) { sandbox, server in
                let result = try await sandbox.run(
                    "get", "-H", "X-Auth-Token: \(Self.secret)",
                    "http://user:\(Self.secret)@127.0.0.1:\(server.port)/here")
                try expectDownloaded(Content("hello"), as: "there", by: result, in: sandbox)
                #expect(server.log.entries.first?.request["Authorization"] != nil)
                let request = try #require(other.log.entries.first?.request)
                #expect(request["Authorization"] == nil && request["X-Auth-Token"] == nil)
            }
        }

        private func expectNoTrace(in sandbox: DlmSandbox) throws {
            for name in try FileManager.default.subpathsOfDirectory(atPath: sandbox.state) {
                let data = FileManager.default.contents(atPath: "\(sandbox.state)/\(name)") ?? Data()
                #expect(data.firstRange(of: Data(Self.secret.utf8)) == nil, "\(name)")
            }
        }
    }
}
