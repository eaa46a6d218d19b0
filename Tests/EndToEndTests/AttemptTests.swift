import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("When it is tried: --retry-on, --max-time, --paused", .serialized, .timeLimit(.minutes(2)))
    struct AttemptTests {
        let content = Content(seed: 710, size: 24 * mebibyte + 3)

        @Test(
            "A status of the user's choice is tried again; without the choice it is final",
            arguments: [(403, 8), (401, 6), (529, 8)])
        func retryOn(status: Int, final: Int32) async throws {
            let small = Content(seed: 711, size: 100_000)
            try await withDlm({ $0.number % 3 == 0 ? FaultReply(small) : FaultReply(status: status) }) {
                sandbox, server in
                let result = try await sandbox.perform(
                    "get", "--retry-on", "401,403,520-529", "--retry-delay", "0.01", server.url())
                try expectDownloaded(small, as: "file.bin", by: result, in: sandbox)
                #expect(server.log.entries.count == 3)
                expectFailure(final, of: try await sandbox.perform("get", server.url("/other")))
                #expect(server.log.entries.count == 4)
            }
        }

        @Test("The attempts are counted all the same")
        func retryOnLimit() async throws {
            try await withDlm({ _ in FaultReply(status: 403) }) { sandbox, server in
                let result = try await sandbox.perform(
                    "get", "--retry-on", "403", "--retries", "2", "--retry-delay", "0.01", server.url())
                expectFailure(8, of: result)
                #expect(server.log.entries.count == 3)
            }
        }

        @Test("A download that takes too long ends with status 4, and goes on with what it has", arguments: [1, 4])
        func maxTime(connections: Int) async throws {
            let slow = FaultReply(content, etag: "\"v1\"").with { $0.bytesPerSecond = Int(2 * mebibyte) }
            try await withDlm(serving: slow) { sandbox, server in
                // This test uses the real clock. A leap while the disk or the store is working would use up the time
                // limit.
                let result = try await sandbox.perform(
                    "get", "-x", "\(connections)", "--max-time", "1.5", server.url(), leaps: false)
                expectFailure(4, of: result)
                #expect(result.stderr.contains("--max-time"), "\(result.stderr)")
                #expect(sandbox.names == ["file.bin.part"])
                let shown = try await sandbox.show(1)
                #expect(shown.state == "failed" && shown.received > 0)
                // A new run has its own time limit.
                server.handle { [content] _ in FaultReply(content, etag: "\"v1\"") }
                let end = try await sandbox.perform("get", "--max-time", "60", server.url(), leaps: false)
                try expectDownloaded(content, as: "file.bin", by: end, in: sandbox)
                #expect(server.log.bytesSentTwice() <= 5 * mebibyte)
            }
        }

        @Test("The time between attempts counts: what would begin too late is given up at once")
        func maxTimeWhileWaiting() async throws {
            try await withDlm({ _ in FaultReply(status: 503) }) { sandbox, server in
                // This test uses a clock that leaps, so that the time is over between two attempts, even on a slow
                // machine.
                let result = try await sandbox.perform(
                    "get", "--retries", "1000", "--retry-delay", "10", "--max-time", "60", server.url())
                expectFailure(4, of: result)
                #expect(result.stderr.contains("--max-time") && result.stderr.contains("503"), "\(result.stderr)")
                #expect(server.log.entries.count > 1)
                let late = try await sandbox.perform(
                    "get", "--retry-delay", "1h", "--max-time", "30m", server.url("/b"))
                expectFailure(4, of: late)
            }
        }

        @Test("A get --paused begins when it is resumed from elsewhere, and ends as it does")
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

        @Test("One that is ended stays recorded; asked for again without --paused it begins")
        func pausedAndEnded() async throws {
            try await withDlm(serving: FaultReply(content, etag: "\"v1\"")) { sandbox, server in
                let get = try sandbox.start("get", "--paused", server.url())
                await get.expectSays("paused")
                get.send(SIGINT)
                #expect(try await get.result().ending == .signalled(SIGINT))
                #expect(try await sandbox.list().map(\.state) == ["paused"])
                let result = try await sandbox.perform("get", server.url())
                try expectDownloaded(content, as: "file.bin", by: result, in: sandbox)
                #expect(try await sandbox.list().count == 1)
            }
        }

        @Test("get -b --paused prints its number; even a killed session does not begin it, resume does")
        func pausedInBackground() async throws {
            try await withDlm(serving: FaultReply(content, etag: "\"v1\"")) { sandbox, server in
                let get = try await sandbox.done("get", "-b", "--paused", server.url("/a"), server.url("/b"))
                #expect(get.stdout == "1\n2\n")
                #expect(try await sandbox.list().map(\.state) == ["paused", "paused"])
                let pid = try #require(try await sandbox.daemonStatus().pid)
                let daemon = try #require(ForeignProcess(pid))
                daemon.send(SIGKILL)
                #expect(daemon.hasEnded(within: .seconds(10)))
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
