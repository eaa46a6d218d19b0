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

        @Test("A single URL without a scheme, with options, is downloaded, and the used scheme is reported")
        func shortest() async throws {
            let content = Content(seed: 790, size: 6 * mebibyte + 1)
            try await withDlm(serving: FaultReply(content)) { sandbox, server in
                let address = server.url("/a").replacing("http://", with: "")
                let result = try await sandbox.run(address, "-x1", "-dsub", "-omine", "-vHX-Kind:test")
                try expectDownloaded(content, as: "sub/mine", by: result, in: sandbox)
                #expect(result.stderr.contains("no scheme given; using http://\(address)"), "\(result.stderr)")
                #expect(server.log.entries.map(\.request.target) == ["/a"])
                #expect(server.log.entries.first?.request["X-Kind"] == "test")
                let behind = try await sandbox.run("-q", "-oother", server.url("/b"))
                #expect(behind.ending == .exited(0) && behind.stdout.isEmpty && behind.stderr.isEmpty)
                #expect(try sha256(of: sandbox.file("other")) == content.sha256)
            }
        }

        @Test("A file without an announced size is cut once it exceeds the limit; a larger limit accepts it")
        func tooLargeWhileItComes() async throws {
            let large = Content(seed: 704, size: 8 * mebibyte)
            let chunked = FaultReply(large, etag: "\"v1\"").with {
                $0.framing = .chunked
                $0.ranges = .ignored
            }
            try await withDlm(serving: chunked) { sandbox, server in
                let result = try await sandbox.perform("get", "--max-size", "1M", server.url())
                expectFailure(9, of: result)
                #expect(result.stderr.contains("--max-size"), "\(result.stderr)")
                #expect(sandbox.names == ["file.bin.part"])
                let size = try FileManager.default.attributesOfItem(atPath: sandbox.file("file.bin.part"))[.size]
                #expect(try #require(size as? Int64) <= mebibyte)
                #expect(server.log.entries.count == 1)
                try await sandbox.expectDownloaded(large, by: "get", "--max-size", "8M", server.url())
            }
        }
    }
}
