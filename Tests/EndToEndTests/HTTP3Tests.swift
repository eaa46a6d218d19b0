import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("HTTP/3", .serialized, .timeLimit(.minutes(3)))
    struct HTTP3Tests {
        private static let content = Content(seed: 930, size: 24 * mebibyte + 7)

        @Test(
            "Parts come over HTTP/3, and after a kill the rest does",
            .enabled(if: Nginx.hasHTTP3, "needs nginx and libcurl with HTTP/3, as in Debian 13"),
            arguments: ["1", "4", "auto"])
        func resumed(connections: String) async throws {
            try await withNginxMirrors(Self.content) { sandbox, servers in
                let words = [
                    "--http3", "--insecure", "--verify", "headers", "-x", connections,
                    servers[0].secureURL("/slow/file.bin"),
                ]
                let received = try await sandbox.kill(try sandbox.launch(["get"] + words), after: 2 * mebibyte)
                try await sandbox.expectDownloaded(Self.content, by: ["get"] + words)
                let attempts = try await sandbox.show(1).attempts
                #expect(attempts.count == 2 && attempts[1].httpVersion == "3", "\(attempts)")
                #expect(attempts[1].received ?? 0 <= Self.content.size - received + mebibyte, "\(attempts)")
                #expect(servers[0].log.allSatisfy { $0.version == "HTTP/3.0" }, "\(servers[0].log)")
            }
        }

        @Test("The rest of a file whose connection over HTTP/3 was lost comes over TCP", .enabled(if: Nginx.hasHTTP3))
        func lost() async throws {
            try await withNginxMirrors(Self.content) { sandbox, servers in
                let words = [
                    "get", "--http3", "--insecure", "--verify", "headers", "--stall-timeout", "3", "-x", "1",
                ]
                let process = try ChildProcess(sandbox.launch(words + [servers[0].secureURL("/slow/file.bin")]))
                try await sandbox.waitToRecord(2 * mebibyte)
                try servers[0].killWorkers()
                try expectDownloaded(Self.content, as: "file.bin", by: try await process.result(), in: sandbox)
                // The killed worker has logged nothing.
                let versions = Set(servers[0].log.map(\.version))
                #expect(!versions.isEmpty && versions.isSubset(of: ["HTTP/1.1", "HTTP/2.0"]), "\(servers[0].log)")
            }
        }

        @Test("A server without HTTP/3 sends the file over an earlier version", .enabled(if: Nginx.hasHTTP3))
        func earlier() async throws {
            try await withCertificates { certificates in
                try await withSecureDlm(certificates, { _ in FaultReply(Self.content) }) { site in
                    let result = try await site.sandbox.perform("get", "--http3", "--insecure", site.server.url())
                    try expectDownloaded(Self.content, as: "file.bin", by: result, in: site.sandbox)
                    let attempts = try await site.sandbox.show(1).attempts
                    #expect(attempts.map(\.httpVersion) == ["1.1"])
                }
            }
        }

        @Test("Without HTTP/3 in libcurl, --http3 is refused, and says where to look", .disabled(if: Nginx.hasHTTP3))
        func missing() async throws {
            try await withNginxMirrors(Self.content) { sandbox, servers in
                let result = try await sandbox.perform("get", "--http3", servers[0].secureURL("/file.bin"))
                #expect(result.ending == .exited(2), "\(result)")
                #expect(result.stderr.contains("file.bin: libcurl on this machine does not support"), "\(result)")
                #expect(result.stderr.contains("dlm doctor"), "\(result)")
            }
        }
    }
}
