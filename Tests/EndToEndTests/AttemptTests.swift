import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Options of attempts: --retry-on, --max-time, --paused", .serialized, .timeLimit(.minutes(2)))
    struct AttemptTests {
        let content = Content(seed: 710, size: 24 * mebibyte + 3)

        @Test(
            "An answer with an HTTP status of --retry-on is retried; without the option it fails the download",
            arguments: [(403, 8), (401, 6), (529, 8)])
        func retryOn(status: Int, final: Int32) async throws {
            let small = Content(seed: 711, size: 100_000)
            try await withDlm({ $0.number % 3 == 0 ? FaultReply(small) : FaultReply(status: status) }) {
                sandbox, server in
                try await sandbox.expectDownloaded(
                    small, by: "get", "--retry-on", "401,403,520-529", "--retry-delay", "0.01", server.url())
                #expect(server.log.entries.count == 3)
                expectFailure(final, of: try await sandbox.perform("get", server.url("/other")))
                #expect(server.log.entries.count == 4)
            }
        }

        @Test(
            "--max-time ends a slow download with exit status 4, and a new run continues the partial file",
            arguments: [1, 4])
        func maxTime(connections: Int) async throws {
            let slow = FaultReply(content, etag: "\"v1\"").with { $0.bytesPerSecond = Int(2 * mebibyte) }
            try await withDlm(holding: slow) { sandbox, server in
                // This test uses the real clock. A leap of the test clock while the disk or the store works would use
                // up the time that is left. On a busy machine no byte may arrive in a short time, so longer times are
                // tried next.
                for time in ["1.5", "10", "40"] where !sandbox.exists("file.bin.part") {
                    let result = try await sandbox.perform(
                        "get", "-x", "\(connections)", "--max-time", time, server.url(), leaps: false)
                    expectFailure(4, of: result)
                    #expect(result.stderr.contains("--max-time"), "\(result.stderr)")
                }
                #expect(sandbox.names == ["file.bin.part"])
                let shown = try await sandbox.show(1)
                #expect(shown.state == "failed" && shown.received > 0)
                server.releaseEnds()
                // The time limit starts again with the new run.
                server.handle { [content] _ in FaultReply(content, etag: "\"v1\"") }
                let end = try await sandbox.perform("get", "--max-time", "60", server.url(), leaps: false)
                try expectDownloaded(content, as: "file.bin", by: end, in: sandbox)
                #expect(server.log.bytesSentTwice() <= 5 * mebibyte)
            }
        }

        @Test("get --paused waits for a resume from another process, and ends with the download")
        func pausedInForeground() async throws {
            try await withDlm(serving: FaultReply(content, etag: "\"v1\"")) { sandbox, server in
                let get = try sandbox.start("get", "--paused", server.url())
                await get.expectSays("dlm: 1: file.bin: paused; continue with: dlm resume 1\n")
                #expect(try await sandbox.list().map(\.state) == ["paused"])
                #expect(server.log.connections == 0)
                try await sandbox.done("resume", "1")
                try expectDownloaded(content, as: "file.bin", by: try await get.result(), in: sandbox)
            }
        }

        @Test(
            "get -b --paused prints the number; only resume begins the download, not the restart of the session")
        func pausedInBackground() async throws {
            try await withDlm(serving: FaultReply(content, etag: "\"v1\"")) { sandbox, server in
                let get = try await sandbox.done("get", "-b", "--paused", server.url("/a"), server.url("/b"))
                #expect(get.stdout == "1\n2\n")
                #expect(try await sandbox.list().map(\.state) == ["paused", "paused"])
                let pid = try #require(try await sandbox.daemonStatus().pid)
                let daemon = try #require(ForeignProcess(pid))
                daemon.send(SIGKILL)
                #expect(daemon.hasEnded(within: .seconds(45)))
                _ = try await sandbox.startDaemon()
                #expect(try await sandbox.list().map(\.state) == ["paused", "paused"])
                try await sandbox.done("resume", "2")
                try expectDownloaded(content, as: "b", by: try await sandbox.perform("wait", "2"), in: sandbox)
                #expect(try await sandbox.show(1).state == "paused")
                #expect(server.log.requests(to: "/a").isEmpty)
            }
        }
    }
}
