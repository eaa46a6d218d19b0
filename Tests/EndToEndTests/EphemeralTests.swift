import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("dlm get --ephemeral", .serialized, .timeLimit(.minutes(2)))
    struct EphemeralTests {
        @Test("Only the complete file is left, and nothing is recorded")
        func complete() async throws {
            let content = Content(seed: 31, size: mebibyte)
            try await withDlm(serving: FaultReply(content, etag: "\"a\"")) { sandbox, server in
                try await sandbox.expectDownloaded(content, byProcess: "get", "--ephemeral", server.url())
                #expect(sandbox.names == ["file.bin"])
                #expect(sandbox.root.names(in: "state") == [])
            }
        }

        @Test("An interrupted download leaves nothing, and says so", arguments: [SIGINT, SIGTERM])
        func interrupted(signal: Int32) async throws {
            let reply = FaultReply(Content(seed: 32, size: 64 * mebibyte), etag: "\"a\"")
                .with { $0.bytesPerSecond = Int(8 * mebibyte) }
            try await withDlm(serving: reply) { sandbox, server in
                let result = try await sandbox.interrupt(
                    "get", "--ephemeral", server.url(), with: signal, after: 2 * mebibyte, from: server)
                #expect(result.ending == .signalled(signal))
                #expect(result.errorLines.count == 1 && result.stderr.contains("nothing is kept"), "\(result.stderr)")
                #expect(sandbox.names == [])
                #expect(sandbox.root.names(in: "state") == [])
            }
        }

        @Test(
            "paused: true in the configuration is refused for a download that is not recorded",
            arguments: ["--ephemeral", "-o -"])
        func pausedByConfiguration(option: String) async throws {
            let content = Content(seed: 35, size: 1000)
            try await withDlm(serving: FaultReply(content)) { sandbox, server in
                try sandbox.configure("paused: true\n")
                let words = ["get"] + option.split(separator: " ").map(String.init)
                let text = MetalinkText(size: 1000, hashes: [], urls: [server.url()])
                let document = try sandbox.write(metalink: text.version3)
                for last in [[server.url()], ["-M", document]] where last.count == 1 || words.count == 2 {
                    let result = try await sandbox.run(words + last)
                    expectFailure(2, of: result)
                    #expect(result.stderr.contains("DLM_PAUSED=false"), "\(result.stderr)")
                }
                #expect(server.log.entries.isEmpty)
                var launch = try sandbox.launch(words + [server.url()])
                launch.environment["DLM_PAUSED"] = "false"
                #expect(try await ChildProcess(launch).result().ending == .exited(0))
            }
        }

        @Test("paused=true in a list is refused, because nothing could resume the download")
        func paused() async throws {
            let content = Content(seed: 34, size: mebibyte)
            try await withDlm(serving: FaultReply(content, etag: "\"a\"")) { sandbox, server in
                try sandbox.root.write("\(server.url("/a"))\n  paused=true\n\(server.url("/b"))\n", to: "list")
                let result = try await sandbox.run("get", "--ephemeral", "-i", sandbox.root("list"))
                #expect(result.ending == .exited(2), "\(result.stderr)")
                #expect(result.stderr.contains("list:1: --paused needs a recorded download"), "\(result.stderr)")
                try expectFile(content, "b", in: sandbox)
                #expect(sandbox.names == ["b"])
            }
        }

        @Test("A failed download leaves nothing, and does not delete the partial file of another download")
        func failed() async throws {
            let reply = FaultReply(Content(seed: 33, size: 2 * mebibyte), etag: "\"a\"")
                .with { $0.cut = .close(after: mebibyte) }
            try await withDlm(serving: reply) { sandbox, server in
                expectFailure(4, of: try await sandbox.run("get", "--ephemeral", "--retries", "0", server.url()))
                #expect(sandbox.names == [])
                try Data("another's".utf8).write(to: URL(fileURLWithPath: sandbox.file("file.bin.part")))
                let result = try await sandbox.run("get", "--ephemeral", "--retries", "0", server.url())
                #expect(result.ending == .exited(3))
                #expect(sandbox.names == ["file.bin.part"])
            }
        }
    }
}
