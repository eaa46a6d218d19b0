import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Output of commands", .serialized, .timeLimit(.minutes(1)))
    struct CommandTests {
        let content = Content(seed: 110, size: 6 * mebibyte)

        var slow: FaultReply { FaultReply(content, etag: "\"v1\"").with { $0.bytesPerSecond = Int(6 * mebibyte) } }

        @Test("list shows a paused and a finished download, and show describes one of them")
        func listAndShow() async throws {
            try await withDlm({ [content, slow] in $0.target == "/quick" ? FaultReply(content) : slow }) {
                sandbox, server in
                _ = try await sandbox.run("get", server.url("/quick"))
                let sent = server.log.bytesSent
                _ = try await sandbox.interrupt(
                    "get", server.url("/slow.bin"), with: SIGTERM, after: sent + 2 * mebibyte, from: server)
                #expect(try await sandbox.list().map(\.state).sorted() == ["completed", "paused"])
                let listed = try await sandbox.run("list")
                #expect(listed.ending == .exited(0))
                let lines = listed.outputLines
                #expect(lines.first?.contains("STATE") == true)
                #expect(lines.contains { $0.contains("paused") && $0.contains("slow.bin") })
                let id = try #require(try await sandbox.list().first { $0.state == "paused" }?.id)
                let shown = try await sandbox.run("show", "\(id)")
                #expect(shown.ending == .exited(0))
                for word in ["paused", server.url("/slow.bin"), sandbox.file("slow.bin"), "dlm resume \(id)"] {
                    #expect(shown.stdout.contains(word), "\(shown.stdout)")
                }
            }
        }

        @Test("A download whose process was killed is not listed as running")
        func killedIsNotRunning() async throws {
            try await withDlm(serving: slow) { sandbox, server in
                _ = try await sandbox.interrupt(
                    "get", server.url(), with: SIGKILL, after: 2 * mebibyte, from: server)
                #expect(try await sandbox.list().map(\.state) == ["paused"])
            }
        }

        @Test("remove keeps the finished file unless --delete-file is given")
        func removeFinished() async throws {
            try await withDlm(serving: FaultReply(content)) { sandbox, server in
                _ = try await sandbox.run("get", server.url())
                let removed = try await sandbox.run("remove", try await sandbox.onlyID())
                #expect(removed.ending == .exited(0))
                try expectFile(content, "file.bin", in: sandbox)
                #expect(try await sandbox.list() == [])
            }
        }

        @Test("Resuming a complete download succeeds at once")
        func resumeComplete() async throws {
            try await withDlm(serving: FaultReply(content, etag: "\"v1\"")) { sandbox, server in
                _ = try await sandbox.run("get", server.url())
                let result = try await sandbox.run("resume", try await sandbox.onlyID())
                try expectDownloaded(content, as: "file.bin", by: result, in: sandbox)
                #expect(server.log.bytesSent < content.size + mebibyte)
            }
        }

        struct Finished: Decodable {
            let version: Int
            let event: String
            let id: Int
            let state: String
            let path: String?
            let bytes: Int64?
            let error: Failure?

            struct Failure: Decodable {
                let kind: String
                let httpStatus: Int?
            }
        }

        @Test("get --json ends with one finished line per download")
        func json() async throws {
            try await withDlm({ [content] in $0.target == "/gone" ? FaultReply(status: 404) : FaultReply(content) }) {
                sandbox, server in
                let result = try await sandbox.run("get", "--json", server.url("/good"), server.url("/gone"))
                #expect(result.ending == .exited(8))
                for line in result.outputLines {
                    let value = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                    #expect(value?["version"] as? Int == 1)
                }
                let finished = result.outputLines.compactMap {
                    try? JSONDecoder().decode(Finished.self, from: Data($0.utf8))
                }.filter { $0.event == "finished" }
                try #require(finished.count == 2)
                let good = try #require(finished.first { $0.state == "completed" })
                #expect(good.path == sandbox.file("good") && good.bytes == content.size)
                let bad = try #require(finished.first { $0.state == "failed" })
                #expect(bad.error?.kind == "server" && bad.error?.httpStatus == 404)
            }
        }

        @Test(
            "On a terminal the progress fits its width, and standard output has only the path",
            arguments: [
                40, 80, 120,
            ])
        func progress(columns: Int) async throws {
            try await withDlm(serving: slow) { sandbox, server in
                server.holdEnds()
                let get = try sandbox.start("get", server.url()) { $0.terminalColumns = columns }
                await get.expectSays("%")
                server.releaseEnds()
                let result = try await get.result()
                try expectDownloaded(content, as: "file.bin", by: result, in: sandbox)
                #expect(result.stderr.contains("file.bin"))
                #expect(result.stderr.contains("%"))
                let escapes = try Regex("\u{1B}\\[[0-9;?]*[A-Za-z]")
                let lines = result.stderr.replacing(escapes, with: "\n").split { $0.isNewline }
                #expect(lines.allSatisfy { $0.count <= columns }, "\(lines)")
            }
        }

        @Test("Without a terminal no control characters are printed")
        func plain() async throws {
            try await withDlm(serving: slow) { sandbox, server in
                let result = try await sandbox.run("get", server.url())
                #expect(!result.stderr.utf8.contains { $0 < 32 && $0 != 10 }, "\(result.stderr)")
            }
        }

        @Test("A closed standard output is not an error")
        func closedOutput() async throws {
            try await withDlm(serving: FaultReply(content)) { sandbox, server in
                _ = try await sandbox.run("get", server.url())
                var launch = try sandbox.launch([])
                launch.arguments = ["-c", "{ \(launch.executable) list --all; echo $? >&2; } | true"]
                launch.executable = "/bin/sh"
                let result = try await ChildProcess(launch).result()
                #expect(result.stderr == "0\n")
            }
        }
    }
}
