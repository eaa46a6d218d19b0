import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Signals at any moment", .serialized, .timeLimit(.minutes(5)))
    struct SignalFaultTests {
        static let content = Content(seed: 340, size: 6 * mebibyte)
        static let whole = FaultReply(content, etag: "\"v1\"")

        /// Returns a reply that takes one and a half seconds. With several connections it takes two, because the first
        /// connection requests 4 MiB at once.
        static func slow(connections: Int = 1) -> FaultReply {
            whole.with { $0.bytesPerSecond = Int((connections == 1 ? 4 : 2) * mebibyte) }
        }

        static func cell(_ fault: String, connections: Int = 1) -> FaultTrial {
            FaultTrial(area: .process, fault: fault, moment: .resume, connections: connections)
        }

        /// Expects that the same command, with a fast server, makes the right file.
        static func expectGoesOn(
            _ fault: String, in sandbox: DlmSandbox, from server: FaultServer, connections: Int = 1
        ) async throws {
            server.handle { _ in whole }
            server.releaseEnds()
            let again = try await sandbox.run("get", "-x", "\(connections)", server.url())
            try cell(fault, connections: connections).judge(again, in: sandbox, right: [content], errors: [])
            #expect(sandbox.names == ["file.bin"], "\(fault)")
            #expect(try await sandbox.list().map(\.state) == ["completed"], "\(fault)")
        }

        @Test("A signal at any moment, even in the first milliseconds, ends a download that is not complete")
        func anyMoment() async throws {
            var random = SeededGenerator(for: "Signals at any moment")
            let trials = (0..<(FaultTrial.isFull ? 50 : 6)).map { index in
                (
                    signal: [SIGTERM, SIGINT, SIGHUP][index % 3], connections: [1, 4][index % 2],
                    moment: Int.random(in: 0...[20, 200, 1300][index % 3], using: &random)
                )
            }
            try await concurrently(trials, atMost: 4) { trial in
                try await withDlm(serving: Self.slow(connections: trial.connections)) { sandbox, server in
                    let get = try sandbox.start("get", "-x", "\(trial.connections)", server.url())
                    try await letPass(.milliseconds(trial.moment))
                    get.send(trial.signal)
                    let ending = try await get.result().ending
                    #expect([.signalled(trial.signal), .exited(0)].contains(ending), "\(trial)")
                    // The signal may come between the final name and the end of the process.
                    #expect(sandbox.exists("file.bin") || ending != .exited(0), "\(trial)")
                    try await Self.expectGoesOn(
                        "signal \(trial.signal) at a random moment", in: sandbox, from: server,
                        connections: trial.connections)
                }
            }
        }

        @Test("A second signal ends dlm at once; only bytes that no checkpoint has recorded are lost")
        func twice() async throws {
            let pairs = [(SIGTERM, SIGTERM), (SIGINT, SIGTERM), (SIGHUP, SIGINT), (SIGTERM, SIGKILL)]
            try await concurrently(FaultTrial.short(pairs, each: 2), atMost: 2) { first, second in
                try await withDlm(holding: Self.slow()) { sandbox, server in
                    let get = try sandbox.start("get", "-x", "1", server.url())
                    try await sandbox.waitToRecord(mebibyte)
                    get.send(first)
                    get.send(second)
                    let ending = try await get.result().ending
                    #expect([.signalled(first), .signalled(second)].contains(ending))
                    let (kept, before) = (try await sandbox.show(1).received, server.log.bytesSent)
                    #expect(kept >= mebibyte)
                    try await Self.expectGoesOn("signals \(first) and \(second)", in: sandbox, from: server)
                    ResumeTests.expectKept(kept, of: Self.content, server, since: before, (first, second))
                    #expect(!holdsToPromises || server.log.bytesSentTwice() <= 4 * mebibyte)
                }
            }
        }

        @Test("A signal that dlm does not catch has the effect of kill -9")
        func uncaught() async throws {
            let signals = [SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU]
            try await concurrently(FaultTrial.short(signals, each: 4), atMost: 4) { signal in
                try await withDlm(holding: Self.slow()) { sandbox, server in
                    let get = try sandbox.start("get", server.url()) { $0.runInShell(after: "ulimit -c 0") }
                    #expect(await server.waitUntil { $0.bytesSent >= mebibyte })
                    let result = try await get.expectEnd(by: signal)
                    #expect(result.stderr == "")
                    try await Self.expectGoesOn("signal \(signal)", in: sandbox, from: server)
                }
            }
        }

        @Test("SIGPIPE, and signals that the caller ignores, have no effect")
        func ignored() async throws {
            let cases = [([SIGPIPE], "true"), ([SIGHUP, SIGINT], "trap '' HUP INT")]
            try await concurrently(cases, atMost: 2) { signals, preparation in
                try await withDlm(holding: Self.slow()) { sandbox, server in
                    let get = try sandbox.start("get", server.url()) { $0.runInShell(after: preparation) }
                    #expect(await server.waitUntil { $0.bytesSent >= mebibyte })
                    for signal in signals { get.send(signal) }
                    server.releaseEnds()
                    let result = try await get.result()
                    try Self.cell("ignored signals").judge(result, in: sandbox, right: [Self.content], errors: [])
                }
            }
        }

        @Test("If the caller ignores SIGHUP (nohup), other signals still end dlm", .enabled(if: FaultTrial.isFull))
        func nohup() async throws {
            try await withDlm(holding: Self.slow()) { sandbox, server in
                let get = try sandbox.start("get", server.url()) { $0.runInShell(after: "trap '' HUP") }
                #expect(await server.waitUntil { $0.bytesSent >= mebibyte })
                get.send(SIGHUP)
                try await get.expectEnd(by: SIGTERM)
                try await Self.expectGoesOn("SIGTERM under nohup", in: sandbox, from: server)
            }
        }

        @Test("After its process was stopped for a while (SIGSTOP), a download continues")
        func stopped() async throws {
            try await concurrently([1, 4], atMost: 2) { connections in
                try await withDlm(serving: Self.slow(connections: connections)) { sandbox, server in
                    let get = try sandbox.start("get", "-x", "\(connections)", server.url())
                    var unread: Int64 = 0
                    for moment in [200, 300] {
                        try await letPass(.milliseconds(moment))
                        let read = server.log.bytesSent
                        get.send(SIGSTOP)
                        try await letPass(.milliseconds(700))
                        unread += server.log.bytesSent - read
                        get.send(SIGCONT)
                    }
                    let result = try await get.result()
                    try Self.cell("SIGSTOP and SIGCONT", connections: connections)
                        .judge(result, in: sandbox, right: [Self.content], errors: [])
                    // A connection that falls behind loses the end of its range to another connection. The bytes that
                    // were sent while dlm did not read are fetched again.
                    let twice = server.log.bytesSentTwice()
                    #expect(twice <= (connections == 1 ? 0 : unread + mebibyte), "\(twice), \(unread)")
                }
            }
        }

        @Test("When its terminal closes, a download is paused and dlm ends by SIGHUP")
        func terminalGone() async throws {
            try await withDlm(holding: Self.slow()) { sandbox, server in
                let get = try sandbox.start("get", "-x", "1", server.url()) { $0.terminalColumns = 80 }
                try await sandbox.waitToRecord(mebibyte)
                get.hangUp()
                #expect(try await get.result().ending == .signalled(SIGHUP))
                #expect(try await sandbox.list().map(\.state) == ["paused"])
                #expect(sandbox.names == ["file.bin.part"])
                try await Self.expectGoesOn("terminal gone", in: sandbox, from: server)
                #expect(server.log.bytesSentTwice() <= promised(atMost: mebibyte))
            }
        }

        @Test("If the shell that started dlm is killed, dlm continues, or ends by SIGHUP if it has a terminal")
        func shellKilled() async throws {
            try await concurrently([true, false], atMost: 2) { hasTerminal in
                try await withDlm(serving: Self.slow()) { sandbox, server in
                    var launch = try sandbox.launch(["get", server.url()])
                    launch.arguments = ["-c", "\"$@\"; exit", "sh", launch.executable] + launch.arguments
                    launch.executable = "/bin/sh"
                    if hasTerminal { launch.terminalColumns = 80 }
                    server.holdEnds()
                    let shell = try ChildProcess(launch)
                    try await sandbox.waitToRecord(mebibyte)
                    let all = ForeignProcess.all(of: sandbox.root)
                    let get = try #require(all.first { $0.pid != shell.pid })
                    try await shell.expectEnd(by: SIGKILL)
                    if !hasTerminal { server.releaseEnds() }
                    #expect(await get.waitForEnd())
                    #expect(sandbox.names == [hasTerminal ? "file.bin.part" : "file.bin"])
                    #expect(try await sandbox.list().map(\.state) == [hasTerminal ? "paused" : "completed"])
                    try await Self.expectGoesOn("shell killed", in: sandbox, from: server)
                }
            }
        }
    }
}
