import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Several downloads with the same target", .serialized, .timeLimit(.minutes(2)))
    struct TargetTests {
        let content = Content(seed: 430, size: 6 * mebibyte + 1)

        /// Returns a reply that stops until the test opens the gate.
        func gated(_ gate: Gate) -> FaultReply { FaultReply(content, etag: "\"v1\"").with { $0.gate = gate } }

        var slow: FaultReply { FaultReply(content, etag: "\"v1\"").with { $0.bytesPerSecond = Int(6 * mebibyte) } }

        /// Returns a change that makes a launch use a second store for the same download folder.
        static func otherStore(_ sandbox: DlmSandbox) -> (inout ProcessLaunch) -> Void {
            let folder = sandbox.root("home")
            return { $0.environment["XDG_STATE_HOME"] = folder }
        }

        /// Waits until one of the processes has ended. The process that does not get the file ends at once. The other
        /// process cannot end, because its answer waits at the gate.
        static func waitForEither(_ first: ChildProcess, _ second: ChildProcess) async {
            let ended = Observed(0)
            for process in [first, second] {
                Task { if await process.waitForEnd(atMost: .seconds(45)) { ended.update { $0 += 1 } } }
            }
            #expect(await ended.wait { $0 > 0 })
        }

        /// Expects that exactly one process downloaded the file, and that the other gave the reason.
        func expectOne(_ first: ChildProcess.Result, _ second: ChildProcess.Result, in sandbox: DlmSandbox) throws {
            let winner = first.ending == .exited(0) ? first : second
            let loser = first.ending == .exited(0) ? second : first
            try expectDownloaded(content, as: "file.bin", by: winner, in: sandbox)
            #expect(loser.ending == .exited(3), "\(loser.stderr)")
            #expect(loser.stdout == "")
            #expect(loser.stderr.hasPrefix("dlm: "))
            #expect(loser.stderr.contains("file.bin.part"), "\(loser.stderr)")
            #expect(loser.stderr.contains("another process"), "\(loser.stderr)")
            #expect(sandbox.names == ["file.bin"])
        }

        @Test(
            "Two stores at the same moment: one download proceeds, and the other ends with status 3 and the reason",
            arguments: 0..<4)
        func foreground(round: Int) async throws {
            let gate = Gate(after: mebibyte)
            try await withDlm(serving: gated(gate)) { sandbox, server in
                let first = try sandbox.start("get", server.url())
                let second = try sandbox.start("get", server.url(), with: Self.otherStore(sandbox))
                await Self.waitForEither(first, second)
                gate.open()
                try expectOne(try await first.result(), try await second.result(), in: sandbox)
            }
        }

        @Test("The partial file of a download that is paused in another store is refused, though it describes itself")
        func ended() async throws {
            let gate = Gate(after: 2 * mebibyte)
            try await withDlm(serving: gated(gate)) { sandbox, server in
                let paused = try sandbox.start("get", "-x", "1", server.url())
                try await sandbox.waitToRecord(mebibyte)
                try await paused.expectEnd(by: SIGTERM)
                gate.open()
                let thief = try await sandbox.perform("get", server.url(), with: Self.otherStore(sandbox))
                expectFailure(3, of: thief)
                #expect(thief.stderr.contains("file.bin.part"), "\(thief.stderr)")
                try expectDownloaded(
                    content, as: "file.bin", by: try await sandbox.perform("get", server.url()), in: sandbox)
                #expect(server.log.bytesSentTwice() <= promised(atMost: 2 * mebibyte))
            }
        }

        @Test("A get for a download of the background session joins the download, and reports its end")
        func joined() async throws {
            try await withDlm(holding: slow) { sandbox, server in
                try await sandbox.hand(["-x", "1", server.url()])
                #expect(await server.waitUntil { $0.bytesSent > mebibyte })
                let gets = try (0..<3).map { _ in try sandbox.start("get", "-v", server.url()) }
                let leaver = try sandbox.start("get", "-v", server.url())
                try await sandbox.done("pause", "1")
                for get in gets + [leaver] { await get.expectSays("1: file.bin: paused") }
                // A joined command that ends does not affect the download.
                try await leaver.expectEnd(by: SIGINT)
                #expect(try await sandbox.show(1).session == "background")
                server.releaseEnds()
                try await sandbox.done("resume", "1")
                for get in gets {
                    try expectDownloaded(content, as: "file.bin", by: try await get.result(), in: sandbox)
                }
                #expect(try await sandbox.list().count == 1)
                #expect(server.log.bytesSentTwice() <= promised(atMost: mebibyte))
            }
        }
    }
}
