import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite(
        "Options that validate the answer: --expect-type, --expect-status, --max-size",
        .serialized, .timeLimit(.minutes(2)))
    struct ValidationTests {
        let content = Content(seed: 700, size: mebibyte + 17)

        private func typed(_ type: String?) -> FaultReply {
            FaultReply(content, etag: "\"v1\"").with { if let type { $0.fields = [("Content-Type", type)] } }
        }

        @Test(
            "If a login page (HTTP status 200) comes instead of the file, dlm exits with status 9 and leaves no file",
            arguments: [300, 2 * mebibyte], [1, 4])
        func loginPage(size: Int64, connections: Int) async throws {
            let page = FaultReply(Content(seed: 701, size: size)).with {
                $0.fields = [("Content-Type", "text/html; charset=utf-8")]
                $0.ranges = .ignored
            }
            try await withDlm({ $0.target == "/login" ? page : .redirect(to: "/login") }) { sandbox, server in
                let result = try await sandbox.perform(
                    "get", "-x", "\(connections)", "--expect-type", "application/zip", server.url("/file.zip"))
                expectFailure(9, of: result)
                #expect(result.stderr.contains("text/html") && result.stderr.contains("login"), "\(result.stderr)")
                #expect(sandbox.names == [])
                #expect(server.log.entries.count == 2, "it is not asked for again")
            }
        }

        @Test("--expect-status accepts other statuses than 200, and refuses 200 if it is not listed")
        func statuses() async throws {
            let other = FaultReply(content).with {
                $0.status = 203
                $0.ranges = .ignored
            }
            try await withDlm({ [content] in $0.target == "/203" ? other : FaultReply(content) }) { sandbox, server in
                expectFailure(8, of: try await sandbox.perform("get", server.url("/203")))
                let taken = try await sandbox.perform("get", "--expect-status", "200,203", server.url("/203"))
                try expectDownloaded(content, as: "203", by: taken, in: sandbox)
                // A partial answer, which dlm requests by itself, is accepted like a whole answer.
                let usual = try await sandbox.perform("get", "--expect-status", "200", server.url("/200"))
                try expectDownloaded(content, as: "200", by: usual, in: sandbox)
                let refused = try await sandbox.perform("get", "--expect-status", "203", server.url("/x"))
                expectFailure(9, of: refused)
                #expect(refused.stderr.contains("206") && refused.stderr.contains("203"), "\(refused.stderr)")
                #expect(sandbox.names == ["200", "203"])
            }
        }

        @Test(
            "If the announced size is above the limit, the file is not begun; this holds for 1 kB and for 20 MiB",
            arguments: [1000, 20 * mebibyte])
        func tooLarge(size: Int64) async throws {
            try await withDlm(serving: FaultReply(Content(seed: 703, size: size))) { sandbox, server in
                let result = try await sandbox.perform("get", "--max-size", "\(size - 1)", server.url())
                expectFailure(9, of: result)
                #expect(result.stderr.contains("\(size) bytes"), "\(result.stderr)")
                #expect(sandbox.names == [])
                #expect(server.log.entries.count == 1)
                let fits = try await sandbox.perform("get", "--max-size", "\(size)", server.url())
                try expectDownloaded(Content(seed: 703, size: size), as: "file.bin", by: fits, in: sandbox)
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
