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
                    let result = try await sandbox.run("get", server.url("/" + name)) { $0.executable = program }
                    #expect(result.ending == .exited(0), "\(result.stderr)")
                }
            }
        }

        @Test("A certificate of an unknown authority is refused with status 5, and nothing is left behind")
        func untrusted() async throws {
            try await withNginx { sandbox, nginx in
                try nginx.add(Content(seed: 1, size: 1000), as: "a.bin")
                expectFailure(5, of: try await sandbox.run("get", nginx.secureURL("/a.bin")))
                #expect(sandbox.names == [])
            }
        }

        @Test("Several connections fetch one file, and at most 1 MiB of it twice")
        func segments() async throws {
            let content = Content(seed: 2, size: 16 * mebibyte)
            let reply = FaultReply(content, etag: "\"a\"").with { $0.bytesPerSecond = Int(8 * mebibyte) }
            try await withDlm(serving: reply) { sandbox, server in
                server.holdEnds()
                let get = try sandbox.start("get", "-x", "4", server.url())
                #expect(await server.waitUntil { $0.peakConnections == 4 })
                server.releaseEnds()
                try expectDownloaded(content, as: "file.bin", by: try await get.result(), in: sandbox)
                #expect(server.log.peakConnections == 4)
                #expect(server.log.bytesSentTwice() <= promised(atMost: mebibyte, connections: 4))
            }
        }

        @Test("Until the file is complete, only the partial file exists, and no file has the final name")
        func finalNameComesLast() async throws {
            let content = Content(seed: 3, size: 8 * mebibyte)
            let reply = FaultReply(content, etag: "\"a\"").with { $0.bytesPerSecond = Int(8 * mebibyte) }
            try await withDlm(serving: reply) { sandbox, server in
                server.holdEnds()
                let process = try sandbox.start("get", server.url())
                for share in [1, 4, 7] as [Int64] {
                    #expect(await server.waitUntil { $0.bytesSent >= share * mebibyte })
                    #expect(sandbox.names == ["file.bin.part"])
                }
                server.releaseEnds()
                try expectDownloaded(content, as: "file.bin", by: try await process.result(), in: sandbox)
            }
        }

        @Test(
            "A body of unknown length ends with its last chunk, or at the connection's end with --allow-unverified",
            arguments: [
                FaultReply.Framing.chunked, .closeDelimited,
            ])
        func unknownLength(framing: FaultReply.Framing) async throws {
            let content = Content(seed: 4, size: 3 * mebibyte + 17)
            let reply = FaultReply(content).with {
                $0.framing = framing
                $0.ranges = .ignored
            }
            try await withDlm(serving: reply) { sandbox, server in
                let trust = framing == .closeDelimited ? ["--allow-unverified"] : []
                let result = try await sandbox.run("get", "-x", "4", server.url()) { $0.arguments += trust }
                try expectDownloaded(content, as: "file.bin", by: result, in: sandbox)
            }
        }

        @Test(
            "An empty file can be downloaded",
            arguments: [
                FaultReply.RangeBehaviour.honoured, .ignored,
            ])
        func empty(ranges: FaultReply.RangeBehaviour) async throws {
            try await withDlm(serving: FaultReply(.empty).with { $0.ranges = ranges }) { sandbox, server in
                let result = try await sandbox.run("get", server.url())
                try expectDownloaded(.empty, as: "file.bin", by: result, in: sandbox)
            }
        }

        @Test("The right checksum is accepted")
        func rightChecksum() async throws {
            let content = Content(seed: 5, size: mebibyte)
            try await withDlm(serving: FaultReply(content)) { sandbox, server in
                let result = try await sandbox.run(
                    "get", "-x", "2", "--checksum", "sha256:\(content.sha256)", server.url())
                try expectDownloaded(content, as: "file.bin", by: result, in: sandbox)
            }
        }

        @Test("A wrong checksum ends with status 9, and the final name does not appear")
        func wrongChecksum() async throws {
            let content = Content(seed: 5, size: mebibyte)
            let other = Content(seed: 6, size: mebibyte).sha256
            try await withDlm(serving: FaultReply(content)) { sandbox, server in
                let result = try await sandbox.run("get", "--checksum", "sha256:\(other)", server.url())
                expectFailure(9, of: result)
                #expect(!sandbox.exists("file.bin"))
            }
        }

        @Test("The user's header fields are sent, and --quiet prints nothing")
        func headers() async throws {
            try await withDlm(serving: FaultReply(Content("hello"))) { sandbox, server in
                let result = try await sandbox.run("get", "-q", "-H", "X-Test: yes", server.url())
                #expect(result.ending == .exited(0))
                #expect(result.stdout == "" && result.stderr == "")
                let request = try #require(server.log.entries.first?.request)
                #expect(request["X-Test"] == "yes")
                #expect(request["User-Agent"]?.hasPrefix("dlm/") == true)
                #expect(request["Accept-Encoding"] == "identity")
            }
        }

        @Test(
            "Running the same command again succeeds and does not fetch the file again, even if the server sends it",
            arguments: ["\"a\"", nil], [true, false])
        func again(etag: String?, honoursConditions: Bool) async throws {
            let content = Content(seed: 7, size: 32 * mebibyte)
            let reply = FaultReply(content, etag: etag, lastModified: HTTPDate.ago(100_000)).with {
                $0.honoursConditions = honoursConditions
            }
            try await withDlm(serving: reply) { sandbox, server in
                _ = try await sandbox.run("get", server.url())
                let before = try sandbox.modified("file.bin")
                let sent = server.log.bytesSent
                let result = try await sandbox.run("get", server.url())
                try expectDownloaded(content, as: "file.bin", by: result, in: sandbox)
                #expect(try sandbox.modified("file.bin") == before)
                // The server counts bytes that are only in the buffers of the kernels, and that no process receives.
                #expect(server.log.bytesSent - sent <= (honoursConditions ? 0 : content.size / 2))
            }
        }

        @Test("Several URLs: the good ones are fetched, the bad one gives the status")
        func several() async throws {
            let content = Content(seed: 8, size: 100_000)
            try await withDlm({ $0.target == "/gone" ? FaultReply(status: 404) : FaultReply(content) }) {
                sandbox, server in
                let urls = ["/a", "/gone", "/b"].map { server.url($0) }
                let result = try await sandbox.run("get", urls[0], urls[1], urls[2])
                #expect(result.ending == .exited(8))
                #expect(Set(result.outputLines.map(String.init)) == [sandbox.file("a"), sandbox.file("b")])
                #expect(result.stderr.contains("/gone: 404 Not Found"))
                #expect(sandbox.names == ["a", "b"])
            }
        }
    }
}
