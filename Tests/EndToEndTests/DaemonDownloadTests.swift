import DownloadCore
import DownloadEngine
import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Downloads of the background session", .serialized, .timeLimit(.minutes(2)))
    struct DaemonDownloadTests {
        static let files = AnyFiles(size: 4 * mebibyte + 3)

        @Test(
            "A signal pauses the downloads and ends the session with 0, and the next session continues them",
            arguments: [SIGTERM, SIGINT, SIGHUP])
        func ended(signal: Int32) async throws {
            try await withDlm(Self.files.handler(bytesPerSecond: 2 * mebibyte)) { sandbox, server in
                let run = try sandbox.start("daemon", "run")
                #expect(await run.waitForOutput { $0.errorText.contains("started: dlm ") })
                server.holdEnds()
                try await sandbox.hand(["-x", "1", server.url("/a"), server.url("/b")])
                for id in 1...2 { try await sandbox.waitToShow(id) { $0.received > mebibyte } }
                run.send(signal)
                let begin = ContinuousClock.now
                let result = try await run.result()
                #expect(result.ending == .exited(0), "\(result.stderr)")
                #expect(ContinuousClock.now - begin < promised(within: .seconds(2)))
                #expect(result.stdout == "")
                #expect(sandbox.names == ["a.part", "b.part"])
                #expect(try await sandbox.list().map(\.state) == ["paused", "paused"])
                server.handle(Self.files.handler())
                server.releaseEnds()
                _ = try await sandbox.startDaemon()
                try await sandbox.waitForStates { $0 == ["completed", "completed"] }
                try Self.files.expect(["a", "b"], in: sandbox)
                for path in ["/a", "/b"] {
                    #expect(server.log.bytesSentTwice(target: path) <= promised(atMost: mebibyte))
                }
            }
        }

        @Test("If a download is added while the session is ending, the next session fetches it", arguments: 0..<3)
        func whilePausing(round: Int) async throws {
            try await withDlm(Self.files.handler(bytesPerSecond: 8 * mebibyte)) { sandbox, server in
                let names = (0..<12).map { "f\($0)" }
                let daemon = try await sandbox.startDaemon()
                try await sandbox.hand(names.map { server.url("/" + $0) })
                #expect(await server.waitUntil { $0.bytesSent > 6 * mebibyte })
                daemon.send(SIGTERM)
                // Before the session logs the signal, it would accept the download itself.
                try await sandbox.waitForDaemonLog("signal \(SIGTERM): pausing")
                try await letPass(.milliseconds(10 * round))
                let next = try sandbox.start("daemon", "start", "--json")
                let added = try sandbox.start("get", "-b", server.url("/last"))
                let started = try await next.result()
                #expect(started.ending == .exited(0), "\(started.stderr)")
                #expect(try sandbox.status(started).pid != daemon.pid)
                let got = try await added.result()
                #expect(got.ending == .exited(0), "\(got.stderr)")
                try await sandbox.waitForStates { $0.count == 13 && $0.allSatisfy { $0 == "completed" } }
                try Self.files.expect(names + ["last"], in: sandbox)
            }
        }

        @Test("After kill -9, list shows the true states, and the next session completes the files in order")
        func killed() async throws {
            try await withDlm(Self.files.handler(bytesPerSecond: 2 * mebibyte)) { sandbox, server in
                let names = (0..<8).map { "f\($0)" }
                server.holdEnds()
                let daemon = try await sandbox.startDaemon("-j", "2")
                try await sandbox.hand(["-x", "1"] + names.map { server.url("/" + $0) })
                for id in 1...2 { try await sandbox.waitToShow(id) { $0.received > mebibyte } }
                daemon.send(SIGKILL)
                #expect(await daemon.waitForEnd())
                let states = try await sandbox.list().sorted { $0.id < $1.id }.map(\.state)
                #expect(states == ["paused", "paused"] + Array(repeating: "queued", count: 6))
                let before = server.log.entries.count
                let kept = [try await sandbox.show(1).received, try await sandbox.show(2).received]
                server.handle(Self.files.handler(bytesPerSecond: 8 * mebibyte))
                server.releaseEnds()
                // The session runs one download at a time, because the requests of two could reach the server in any
                // order.
                _ = try await sandbox.startDaemon("-j", "1")
                try await sandbox.waitForStates { $0.allSatisfy { $0 == "completed" } }
                try Self.files.expect(names, in: sandbox)
                var order: [String] = []
                for entry in server.log.entries.dropFirst(before) where !order.contains(entry.request.target) {
                    order.append(entry.request.target)
                }
                #expect(order == names.map { "/" + $0 })
                for (name, kept) in zip(names, kept) {
                    let start = server.log.requests(to: "/" + name).last?.start ?? 0
                    #expect(start >= kept - Overlap.resumed, "\(name)")
                    // The bytes of one second may be sent twice.
                    let twice = server.log.bytesSentTwice(target: "/" + name)
                    #expect(!holdsToPromises || twice <= 2 * mebibyte, "\(name)")
                }
            }
        }

        @Test("stop --finish lets running downloads end and begins no others")
        func finish() async throws {
            try await withDlm(holding: Self.files.handler(bytesPerSecond: 4 * mebibyte)) { sandbox, server in
                let daemon = try await sandbox.startDaemon("-j", "1")
                try await sandbox.hand([server.url("/a"), server.url("/b")])
                #expect(await server.waitUntil { $0.bytesSent > mebibyte })
                let stopping = try sandbox.start("daemon", "stop", "--finish")
                try await sandbox.waitForFinishing()
                server.releaseEnds()
                let stop = try await stopping.result()
                #expect(stop.ending == .exited(0), "\(stop.stderr)")
                #expect(daemon.hasEnded)
                #expect(try await sandbox.list().sorted { $0.id < $1.id }.map(\.state) == ["completed", "queued"])
                try Self.files.expect(["a"], in: sandbox)
                #expect(server.log.requests(to: "/b").isEmpty)
                _ = try await sandbox.startDaemon()
                try await sandbox.waitForStates { $0 == ["completed", "completed"] }
                try Self.files.expect(["a", "b"], in: sandbox)
            }
        }

        @Test("SIGTERM during stop --finish pauses the running download")
        func finishInterrupted() async throws {
            let content = Self.files.content("/a")
            let slow = FaultReply(content, etag: "\"v1\"").with { $0.cut = .stall(after: 2 * mebibyte) }
            try await withDlm(serving: slow) { sandbox, server in
                let daemon = try await sandbox.startDaemon()
                try await sandbox.hand([server.url("/a")])
                try await sandbox.waitToShow(1) { $0.received > 0 }
                let stop = try sandbox.start("daemon", "stop", "--finish")
                try await sandbox.waitForFinishing()
                daemon.send(SIGTERM)
                let result = try await stop.result()
                #expect(result.ending == .exited(0), "\(result.stderr)")
                #expect(daemon.hasEnded)
                #expect(try await sandbox.list().map(\.state) == ["paused"])
                #expect(sandbox.names == ["a.part"])
            }
        }

        @Test("A second signal ends the session at once by that signal, and nothing is lost")
        func secondSignal() async throws {
            try await withDlm(Self.files.handler(bytesPerSecond: 2 * mebibyte)) { sandbox, server in
                let run = try sandbox.start("daemon", "run")
                #expect(await run.waitForOutput { $0.errorText.contains("started: dlm ") })
                server.holdEnds()
                try await sandbox.hand([server.url("/a")])
                #expect(await server.waitUntil { $0.bytesSent > 2 * mebibyte })
                // Both signals are pending when the session wakes, so the second signal arrives while the session
                // handles the first. Signals are delivered in the order of their numbers.
                for signal in [SIGSTOP, SIGINT, SIGTERM, SIGCONT] { run.send(signal) }
                let result = try await run.result()
                #expect(result.ending == .signalled(SIGTERM), "\(result.stderr)")
                #expect(try await sandbox.list().map(\.state) == ["paused"])
                server.releaseEnds()
                _ = try await sandbox.startDaemon()
                try await sandbox.waitForStates { $0 == ["completed"] }
                try Self.files.expect(["a"], in: sandbox)
            }
        }

        @Test("Downloaded files have the mode of the umask of the user who started the session")
        func umask() async throws {
            try await withDlm(Self.files.handler()) { sandbox, server in
                try await sandbox.done("daemon", "start") { $0.runInShell(after: "umask 077") }
                try await sandbox.hand([server.url("/a")])
                try await sandbox.waitForStates { $0 == ["completed"] }
                #expect(try sandbox.mode(of: sandbox.file("a")) == 0o600)
            }
        }

        @Test("The log of the session reports completed and failed downloads, and no secret")
        func log() async throws {
            try await withDlm({ request in
                request.target.hasPrefix("/a") ? FaultReply(Self.files.content("/a")) : FaultReply(status: 404)
            }) { sandbox, server in
                _ = try await sandbox.startDaemon()
                let secret = server.url("/gone").replacing("http://", with: "http://me:hunter2@")
                try await sandbox.hand([server.url("/a"), secret])
                try await sandbox.waitForStates { $0 == ["completed", "failed"] }
                #expect(try await sandbox.run("daemon", "stop").ending == .exited(0))
                let lines = sandbox.daemonLog.split(separator: "\n")
                #expect(lines.contains { $0.contains(" 1: completed: \(sandbox.file("a")) (4194307 bytes)") })
                #expect(lines.contains { $0.contains(" 2: failed: ") && $0.contains("404") })
                #expect(!sandbox.daemonLog.contains("hunter2"))
                #expect(lines.allSatisfy { $0.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ .*/) != nil })
            }
        }
    }
}
