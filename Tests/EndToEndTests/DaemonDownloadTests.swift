import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Downloads of the background session", .serialized, .timeLimit(.minutes(2)))
    struct DaemonDownloadTests {
        static func content(_ target: String) -> Content {
            Content(seed: target.utf8.reduce(7) { $0 &* 31 &+ UInt64($1) }, size: 4 * mebibyte + 3)
        }

        /// Returns a server with a file at every path, each at this speed.
        static func handler(bytesPerSecond: Int64?) -> FaultServer.Handler {
            { request in
                FaultReply(content(request.target), etag: "\"v1\"").with {
                    $0.bytesPerSecond = bytesPerSecond.map { Int($0) }
                }
            }
        }

        func expectFiles(_ names: [String], in sandbox: DlmSandbox) throws {
            for name in names { try expectFile(Self.content("/" + name), name, in: sandbox) }
        }

        @Test(
            "A signal pauses with resume data and ends it with 0; the next start goes on by itself",
            arguments: [SIGTERM, SIGINT, SIGHUP])
        func ended(signal: Int32) async throws {
            try await withDlm(Self.handler(bytesPerSecond: 2 * mebibyte)) { sandbox, server in
                let run = try sandbox.start("daemon", "run")
                #expect(await run.waitForOutput { $0.errorText.contains("started: dlm ") })
                try await sandbox.hand([server.url("/a"), server.url("/b")])
                #expect(await server.waitUntil { $0.bytesSent > 3 * mebibyte })
                run.send(signal)
                let begin = ContinuousClock.now
                let result = try await run.result()
                #expect(result.ending == .exited(0), "\(result.stderr)")
                #expect(ContinuousClock.now - begin < promised(within: .seconds(2)))
                #expect(result.stdout == "")
                #expect(sandbox.names == ["a.part", "b.part"])
                #expect(try await sandbox.list().map(\.state) == ["paused", "paused"])
                server.handle(Self.handler(bytesPerSecond: nil))
                _ = try await sandbox.startDaemon()
                try await sandbox.waitForStates { $0 == ["completed", "completed"] }
                try expectFiles(["a", "b"], in: sandbox)
                for path in ["/a", "/b"] { #expect(server.log.bytesSentTwice(target: path) <= mebibyte) }
            }
        }

        @Test("Who asks while it pauses is served by the next one", arguments: 0..<3)
        func whilePausing(round: Int) async throws {
            try await withDlm(Self.handler(bytesPerSecond: 8 * mebibyte)) { sandbox, server in
                let names = (0..<12).map { "f\($0)" }
                let daemon = try await sandbox.startDaemon()
                try await sandbox.hand(names.map { server.url("/" + $0) })
                #expect(await server.waitUntil { $0.bytesSent > 6 * mebibyte })
                daemon.send(SIGTERM)
                try await letPass(.milliseconds(10 * round))
                let next = try sandbox.start("daemon", "start", "--json")
                let added = try sandbox.start("get", "-b", server.url("/last"))
                let started = try await next.result()
                #expect(started.ending == .exited(0), "\(started.stderr)")
                #expect(try sandbox.status(started).pid != daemon.pid)
                let got = try await added.result()
                #expect(got.ending == .exited(0), "\(got.stderr)")
                try await sandbox.waitForStates { $0.count == 13 && $0.allSatisfy { $0 == "completed" } }
                try expectFiles(names + ["last"], in: sandbox)
            }
        }

        @Test("After kill -9 the list tells the truth, and the next start goes on in order, every file right")
        func killed() async throws {
            try await withDlm(Self.handler(bytesPerSecond: 2 * mebibyte)) { sandbox, server in
                let names = (0..<8).map { "f\($0)" }
                let daemon = try await sandbox.startDaemon("-j", "2")
                try await sandbox.hand(names.map { server.url("/" + $0) })
                #expect(await server.waitUntil { $0.bytesSent > 4 * mebibyte })
                daemon.send(SIGKILL)
                #expect(await daemon.waitForEnd())
                let states = try await sandbox.list().sorted { $0.id < $1.id }.map(\.state)
                #expect(states == ["paused", "paused"] + Array(repeating: "queued", count: 6))
                let before = server.log.entries.count
                server.handle(Self.handler(bytesPerSecond: 8 * mebibyte))
                _ = try await sandbox.startDaemon("-j", "2")
                try await sandbox.waitForStates { $0.allSatisfy { $0 == "completed" } }
                try expectFiles(names, in: sandbox)
                var order: [String] = []
                for entry in server.log.entries.dropFirst(before) where !order.contains(entry.request.target) {
                    order.append(entry.request.target)
                }
                // The first two start together, and so do the next two.
                #expect(Set(order.prefix(2)) == ["/f0", "/f1"])
                for (index, target) in order.enumerated() {
                    #expect(abs((names.firstIndex { "/" + $0 == target } ?? 99) - index) <= 1, "\(order)")
                }
                // At most a second of traffic.
                for name in names { #expect(server.log.bytesSentTwice(target: "/" + name) <= 2 * mebibyte) }
            }
        }

        @Test("stop --finish lets what runs end and begins nothing new")
        func finish() async throws {
            try await withDlm(Self.handler(bytesPerSecond: 4 * mebibyte)) { sandbox, server in
                let daemon = try await sandbox.startDaemon("-j", "1")
                try await sandbox.hand([server.url("/a"), server.url("/b")])
                #expect(await server.waitUntil { $0.bytesSent > mebibyte })
                let stop = try await sandbox.run("daemon", "stop", "--finish")
                #expect(stop.ending == .exited(0), "\(stop.stderr)")
                #expect(daemon.hasEnded)
                #expect(try await sandbox.list().sorted { $0.id < $1.id }.map(\.state) == ["completed", "queued"])
                try expectFiles(["a"], in: sandbox)
                #expect(server.log.requests(to: "/b").isEmpty)
                _ = try await sandbox.startDaemon()
                try await sandbox.waitForStates { $0 == ["completed", "completed"] }
                try expectFiles(["a", "b"], in: sandbox)
            }
        }

        @Test("While it finishes a SIGTERM pauses it")
        func finishInterrupted() async throws {
            let slow = FaultReply(Self.content("/a"), etag: "\"v1\"").with { $0.cut = .stall(after: 2 * mebibyte) }
            try await withDlm(serving: slow) { sandbox, server in
                let daemon = try await sandbox.startDaemon()
                try await sandbox.hand([server.url("/a")])
                #expect(await server.waitUntil { $0.bytesSent >= 2 * mebibyte })
                let stop = try sandbox.start("daemon", "stop", "--finish")
                var isFinishing = false
                for _ in 0..<200 where !isFinishing { isFinishing = try await sandbox.daemonStatus().isFinishing }
                #expect(isFinishing)
                daemon.send(SIGTERM)
                let result = try await stop.result()
                #expect(result.ending == .exited(0), "\(result.stderr)")
                #expect(daemon.hasEnded)
                #expect(try await sandbox.list().map(\.state) == ["paused"])
                #expect(sandbox.names == ["a.part"])
            }
        }

        @Test("A second signal ends it at once, by that signal, and nothing is lost")
        func secondSignal() async throws {
            try await withDlm(Self.handler(bytesPerSecond: 2 * mebibyte)) { sandbox, server in
                let run = try sandbox.start("daemon", "run")
                #expect(await run.waitForOutput { $0.errorText.contains("started: dlm ") })
                try await sandbox.hand([server.url("/a")])
                #expect(await server.waitUntil { $0.bytesSent > 2 * mebibyte })
                // Both signals wait when the process continues, so that the second comes during the work for the first.
                // The signal with the lower number comes first.
                for signal in [SIGSTOP, SIGINT, SIGTERM, SIGCONT] { run.send(signal) }
                let result = try await run.result()
                #expect(result.ending == .signalled(SIGTERM), "\(result.stderr)")
                #expect(try await sandbox.list().map(\.state) == ["paused"])
                _ = try await sandbox.startDaemon()
                try await sandbox.waitForStates { $0 == ["completed"] }
                try expectFiles(["a"], in: sandbox)
            }
        }

        @Test("What it downloads has the modes of the user who started it")
        func umask() async throws {
            try await withDlm(Self.handler(bytesPerSecond: nil)) { sandbox, server in
                let start = try await sandbox.run("daemon", "start") { $0.runInShell(after: "umask 077") }
                #expect(start.ending == .exited(0), "\(start.stderr)")
                try await sandbox.hand([server.url("/a")])
                try await sandbox.waitForStates { $0 == ["completed"] }
                #expect(try sandbox.mode(of: sandbox.file("a")) == 0o600)
            }
        }

        @Test("Twenty get -b at once start one, and each is done")
        func handedAtOnce() async throws {
            try await withDlm(Self.handler(bytesPerSecond: nil)) { sandbox, server in
                let names = (0..<20).map { "f\($0)" }
                let gets = try names.map { try sandbox.start("get", "-b", server.url("/" + $0)) }
                for get in gets {
                    let result = try await get.result()
                    #expect(result.ending == .exited(0), "\(result.stderr)")
                    #expect(result.outputLines.count == 1)
                }
                try await sandbox.waitForStates { $0.count == 20 && $0.allSatisfy { $0 == "completed" } }
                try expectFiles(names, in: sandbox)
                let starts = sandbox.daemonLog.split(separator: "\n").filter { $0.contains("started: dlm ") }
                #expect(starts.count == 1, "\(sandbox.daemonLog)")
            }
        }

        @Test("Its log tells what completed and what failed, and no secret")
        func log() async throws {
            try await withDlm({ request in
                request.target.hasPrefix("/a") ? FaultReply(Self.content("/a")) : FaultReply(status: 404)
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
