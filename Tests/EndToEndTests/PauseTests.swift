import DownloadCore
import DownloadEngine
import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Pause, resume, limit and cancel from another process", .serialized, .timeLimit(.minutes(2)))
    struct PauseTests {
        let content = Content(seed: 400, size: 24 * mebibyte + 17)

        /// A slow answer that stalls after 3 MiB. So the file cannot be complete before the test has run its commands,
        /// even on a busy machine.
        var slow: FaultReply {
            FaultReply(content, etag: "\"v1\"").with {
                $0.bytesPerSecond = Int(4 * mebibyte)
                $0.gate = Gate(after: 3 * mebibyte)
            }
        }
        var fast: FaultReply { FaultReply(content, etag: "\"v1\"") }

        /// Changes the launch to that of a cron job: only HOME and PATH are set, and there is no terminal.
        static func asCron(_ launch: inout ProcessLaunch) {
            launch.environment = launch.environment.filter { ["HOME", "PATH"].contains($0.key) }
        }

        /// Changes the launch to that of another terminal of the same user, with the store in its default place.
        static func asUser(_ launch: inout ProcessLaunch) { launch.environment["XDG_STATE_HOME"] = nil }

        @Test("A get shows each change by another process, and the file is right", arguments: [false, true])
        func foreground(isCron: Bool) async throws {
            try await withDlm(serving: slow) { sandbox, server in
                let asUser: (inout ProcessLaunch) -> Void = { if isCron { Self.asUser(&$0) } }
                let get = try sandbox.start("get", "-x", "1", "--verify", "headers", "--json", server.url()) {
                    if isCron { Self.asCron(&$0) }
                }
                #expect(await server.waitUntil { $0.bytesSent > 2 * mebibyte })
                try await sandbox.waitToShow(1, with: asUser) { $0.received > mebibyte }

                try await sandbox.done("pause", "1", with: asUser)
                let paused = try await sandbox.show(1, with: asUser)
                #expect(paused.state == "paused")
                #expect(paused.received > mebibyte)
                try sandbox.expectPartial(content, "file.bin", has: paused.received)
                await get.expectSays("dlm: 1: file.bin: paused; continue with: dlm resume 1\n")
                await get.expectSays(#""event":"paused""#)
                #expect(await server.waitUntil { $0.openConnections == 0 })

                let before = server.log.bytesSent
                let resumed = try await sandbox.done("resume", "1", with: asUser)
                #expect(resumed.stdout == "")
                await get.expectSays("dlm: 1: file.bin: resumed\n")
                #expect(await server.waitUntil { $0.bytesSent > before + mebibyte })
                try await sandbox.waitToShow(1, with: asUser) { $0.received > paused.received }

                try await sandbox.done("limit", "300k", "1", with: asUser)
                #expect(try await sandbox.show(1, with: asUser).rateLimit == 300 << 10)
                await get.expectSays("dlm: 1: file.bin: limit now 300 KiB/s\n")
                await get.expectSays(#""rateLimit":307200"#)

                try await sandbox.done("cancel", "1", with: asUser)
                let result = try await get.result()
                #expect(result.ending == .exited(11), "\(result.stderr)")
                let events = try result.eventLines
                #expect(
                    events.map(\.event)
                        == ["added", "started", "paused", "resumed", "started", "changed", "finished"])
                #expect(events.last?.state == "cancelled")
                let cancelled = try await sandbox.show(1, with: asUser)
                #expect(cancelled.state == "cancelled")
                #expect(cancelled.received > paused.received)
                try sandbox.expectPartial(content, "file.bin", has: cancelled.received)

                // The limit stays with the download until it is removed.
                try await sandbox.done("limit", "none", "1", with: asUser)
                server.handle { [fast] _ in fast }
                let end = try await sandbox.run("resume", "1", with: asUser)
                try expectDownloaded(content, as: "file.bin", by: end, in: sandbox)
                // Only bytes that were not recorded, and a few recorded bytes for the overlap check, are fetched again.
                let starts = server.log.entries.compactMap(\.start)
                #expect(starts.count >= 3 && starts[1] >= paused.received - mebibyte, "\(starts)")
                #expect(starts.last ?? 0 >= cancelled.received - mebibyte, "\(starts)")
            }
        }

        @Test(
            "Once pause has returned, the resume data survives kill -9: only the overlap check fetches bytes again")
        func onDisk() async throws {
            try await withDlm(serving: slow) { sandbox, server in
                let get = try sandbox.start("get", "-x", "1", server.url())
                try await sandbox.waitToRecord(mebibyte)
                try await sandbox.done("pause", "1")
                try await get.killed()
                let paused = try await sandbox.show(1)
                #expect(paused.state == "paused")
                server.handle { [fast] _ in fast }
                try await sandbox.expectDownloaded(content, byProcess: "resume", "1")
                #expect(server.log.entries.last?.start == paused.received - Overlap.resumed)
            }
        }

        @Test(
            "pause --all also pauses downloads of an ended background session: they do not continue by themselves",
            arguments: [SIGTERM, SIGKILL])
        func all(signal: Int32) async throws {
            try await withDlm({ [slow] _ in slow }) { sandbox, server in
                let daemon = try await sandbox.startDaemon("-j", "2")
                try await sandbox.hand(["-x", "1"] + ["/a", "/b", "/c"].map { server.url($0) })
                #expect(await server.waitUntil { $0.entries.count == 2 && $0.bytesSent > mebibyte })
                daemon.send(signal)
                #expect(await daemon.waitForEnd())
                try await sandbox.done("pause", "--all")
                _ = try await sandbox.startDaemon("-j", "2")
                let status = try await sandbox.daemonStatus()
                #expect(status.running == 0 && status.queued == 0)
                #expect(try await sandbox.list().map(\.state) == ["paused", "paused", "paused"])
                #expect(server.log.entries.count == 2)
            }
        }

        @Test("dlm limit slows a running download, and limit none removes the limit")
        func limit() async throws {
            let content = Content(seed: 401, size: 24 * mebibyte)
            let gate = Gate(after: mebibyte)
            try await withDlm(serving: FaultReply(content).with { $0.gate = gate }) { sandbox, server in
                let get = try sandbox.start("get", "-x", "1", server.url())
                try await sandbox.waitToRecord(mebibyte)
                // With this limit, the rest of the file takes hours. Without it, the rest takes a moment.
                try await sandbox.done("limit", "1k", "1")
                gate.open()
                #expect(await server.waitUntil { $0.bytesSent > mebibyte })
                for _ in 0..<5 {
                    let shown = try await sandbox.show(1)
                    #expect(shown.state == "running" && shown.received < content.size / 2, "\(shown)")
                }
                try await sandbox.done("limit", "none", "1")
                try expectDownloaded(content, as: "file.bin", by: try await get.result(), in: sandbox)
            }
        }
    }
}
