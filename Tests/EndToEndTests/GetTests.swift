import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("dlm get", .serialized, .timeLimit(.minutes(2)))
    struct GetTests {
        enum Way: CaseIterable {
            case http, insecure, authority
        }

        @Test("A large file from nginx is right, and only its path is printed", arguments: Way.allCases, [1, 4])
        func large(way: Way, connections: Int) async throws {
            let content = Content(seed: 1, size: 64 * mebibyte)
            try await withNginx { sandbox, nginx in
                try nginx.add(content, as: "large.bin")
                let url = way == .http ? nginx.url("/large.bin") : nginx.secureURL("/large.bin")
                let result = try await sandbox.run("get", "-x", "\(connections)", url) { launch in
                    if way == .insecure { launch.arguments.append("--insecure") }
                    if way == .authority { launch.environment["SSL_CERT_FILE"] = nginx.certificates.authority }
                }
                try expectDownloaded(content, as: "large.bin", by: result, in: sandbox)
                #expect(sandbox.names == ["large.bin"])
            }
        }

        @Test("No library is loaded from the program's own folder, where a download may have its name")
        func libraryNames() async throws {
            try await withDlm(serving: FaultReply(Content(seed: 4, size: 1000))) { sandbox, server in
                // A program that was unpacked among the downloads.
                let program = sandbox.file("dlm")
                try FileManager.default.copyItem(atPath: DlmSandbox.binary, toPath: program)
                for name in ["libcurl.so.4", "libsqlite3.so.0", "last.bin"] {
                    try await sandbox.done("get", server.url("/" + name)) { $0.executable = program }
                }
            }
        }

        @Test("The user's header fields are sent, and --quiet prints nothing")
        func headers() async throws {
            try await withDlm(serving: FaultReply(Content("hello"))) { sandbox, server in
                let result = try await sandbox.done("get", "-q", "-H", "X-Test: yes", server.url())
                #expect(result.stdout == "" && result.stderr == "")
                let request = try #require(server.log.entries.first?.request)
                #expect(request["X-Test"] == "yes")
                #expect(request["User-Agent"]?.hasPrefix("dlm/") == true)
                #expect(request["Accept-Encoding"] == "identity")
            }
        }
    }
}
