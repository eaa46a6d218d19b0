import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Settings for hosts", .serialized, .timeLimit(.minutes(1)))
    struct HostSettingsTests {
        let content = Content(seed: 71, size: 100_000)

        @Test("A secret field of a section is sent to its host, is not recorded, and reaches the background session")
        func secrets() async throws {
            try await withDlm(serving: FaultReply(content)) { sandbox, server in
                let token = SecretSearch.token
                try sandbox.configure(
                    "hosts:\n  127.0.0.1:\n    header: [\"Authorization: Bearer \(token)\", \"X-A: 1\"]\n")
                #expect(try await sandbox.run("get", server.url("/a")).ending == .exited(0))
                let elsewhere = server.url("/b").replacing("127.0.0.1", with: "localhost")
                #expect(try await sandbox.run("get", elsewhere).ending == .exited(0))
                #expect(try await sandbox.run("get", "-b", server.url("/c")).ending == .exited(0))
                #expect(try await sandbox.perform("wait", "--all").ending == .exited(0))
                let sent = ["/a", "/b", "/c"].map { server.log.requests(to: $0).first?.request["Authorization"] }
                #expect(sent == ["Bearer \(token)", nil, "Bearer \(token)"])
                let shown = try await sandbox.run("config", "--json", server.url("/a"))
                #expect(shown.stdout.contains("Authorization: (hidden)") && shown.stdout.contains("X-A: 1"))
                #expect(!shown.stdout.contains(token))
                #expect(try await sandbox.run("daemon", "stop").ending == .exited(0))
                try FileManager.default.removeItem(atPath: sandbox.configuration)
                try SecretSearch(sandbox: sandbox).expectNoTrace("a section")
            }
        }

        @Test("A host has at most as many downloads at a time as its section allows")
        func perHost() async throws {
            try await withDlm(serving: FaultReply(content)) { sandbox, server in
                try sandbox.configure("hosts:\n  127.0.0.1: {max-per-host: 1, connections: 1}\n")
                try await sandbox.done("get", "-i", "-") {
                    $0.input = (0..<8).map { server.url("/\($0)") }.joined(separator: "\n")
                }
                #expect(server.log.peakConnections == 1)
            }
        }

        @Test("dlm config shows the sections, and with a URL the values in force for it")
        func config() async throws {
            try await withDlm { sandbox in
                try sandbox.configure("retries: 3\nhosts:\n  \"*.example.org\": {retries: 4, connections: 2}\n")
                let all = try await sandbox.run("config")
                #expect(all.stdout.contains(/\nretries +3 +[^\n]*config.yaml:1\n/), "\(all.stdout)")
                #expect(all.stdout.contains(/\n\*.example.org: retries +4 +[^\n]*config.yaml:3\n/), "\(all.stdout)")
                let one = try await sandbox.run("config", "https://a.example.org/x")
                #expect(one.stdout.contains(/\nretries +4 +[^\n]*config.yaml:3\n/), "\(one.stdout)")
                #expect(!one.stdout.contains("example.org:") && one.stdout.contains(/\nconnections +2 +[^ ]/))
                let bad = try await sandbox.run("config", "example.org")
                expectFailure(2, of: bad)
            }
        }
    }
}
