import DownloadCore
import DownloadEngine
import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("A background session that dies, and commands that wait for it", .serialized, .timeLimit(.minutes(3)))
    struct BackgroundTests {
        static let files = AnyFiles(size: 2 * mebibyte + 7)

        @Test(
            "wait and watch survive a restart of the session, and end with the status of the download",
            arguments: [SIGKILL, SIGTERM])
        func restart(signal: Int32) async throws {
            try await withDlm(holding: Self.files.handler(bytesPerSecond: mebibyte / 2)) { sandbox, server in
                let daemon = try await sandbox.startDaemon()
                try await sandbox.hand(["-x", "1"] + ["/whole", "/gone", "/cancelled"].map { server.url($0) })
                try await sandbox.hand([
                    "-x", "1", "--checksum", "sha256:" + String(repeating: "0", count: 64), server.url("/wrong"),
                ])
                let waits = try (1...4).map { try sandbox.start("wait", "-v", "\($0)") }
                let watches = try (1...4).map { try sandbox.start("watch", "--json", "\($0)") }
                let plain = try (1...4).map { try sandbox.start("watch", "--progress", "plain", "\($0)") }
                // This command gets the numbers of the downloads. With --all, a command that starts only after the
                // pause below would find nothing to wait for.
                let all = try sandbox.start("wait", "-v", "1-4")
                let everybody = waits + watches + plain + [all]
                #expect(await server.waitUntil { $0.entries.count == 4 && $0.entries.allSatisfy { $0.sent > 0 } })
                // Each command reports a pause, so from then on it follows the downloads.
                try await sandbox.done("pause", "1-4")
                for process in everybody { await process.expectSays("paused; continue with: dlm resume") }
                try await sandbox.done("resume", "1-4")
                for process in everybody { await process.expectSays(": resumed") }
                daemon.send(signal)
                #expect(await daemon.waitForEnd())
                for process in everybody { await process.expectSays("session is not running; run: dlm daemon start") }

                server.handle { request in
                    if request.target == "/gone" { return FaultReply(status: 404) }
                    // The download that is cancelled below stalls after one byte.
                    let gate = request.target == "/cancelled" ? Gate(after: 1) : nil
                    return Self.files.reply(request).with { $0.gate = gate }
                }
                server.releaseEnds()
                _ = try await sandbox.startDaemon()
                #expect(await server.waitUntil { $0.requests(to: "/cancelled").count == 3 })
                try await sandbox.done("cancel", "3")
                for (index, status) in [0, 8, 11, 9].enumerated() {
                    for process in [waits[index], watches[index], plain[index]] {
                        let result = try await process.result()
                        #expect(
                            result.ending == .exited(Int32(status)), "\(index + 1): \(result.stdout)\(result.stderr)")
                    }
                    let finished = try await watches[index].result().eventLines.last
                    #expect(finished?.event == "finished")
                }
                #expect(try await waits[0].result().stdout == sandbox.file("whole") + "\n")
                #expect(try await all.result().ending == .exited(1))
                try Self.files.expect(["whole"], in: sandbox)
                #expect(!sandbox.exists("wrong"))
            }
        }

        @Test("wait --any ends with the first download, wait --timeout in time, and neither affects a download")
        func anyAndTimeout() async throws {
            try await withDlm({ request in
                let gate = request.target == "/fast" ? nil : Gate(after: mebibyte / 2)
                return Self.files.reply(request).with { $0.gate = gate }
            }) { sandbox, server in
                try await sandbox.hand(["-x", "1", server.url("/slow")])
                #expect(await server.waitUntil { $0.bytesSent > 0 })
                let timeout = try await sandbox.perform("wait", "--timeout", "0.5", "1")
                expectFailure(1, of: timeout)
                #expect(timeout.stderr.contains("timed out"), "\(timeout.stderr)")
                let any = try sandbox.start("wait", "--any", "1", "2")
                expectFailure(10, of: try await any.result())
                try await sandbox.hand([server.url("/fast")])
                try await sandbox.expectDownloaded(Self.files.content("/fast"), as: "fast", by: "wait", "--any", "1-2")
                #expect(try await sandbox.show(1).state == "running")
                let watch = try sandbox.start("watch", "1") { $0.terminalColumns = 80 }
                await watch.expectSays("slow")
                try await watch.expectEnd(by: SIGINT)
                #expect(try await sandbox.show(1).state == "running")
            }
        }
    }
}
