import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("dlm watch with keys", .serialized, .timeLimit(.minutes(2)))
    struct LiveWatchTests {
        static let enter = "\u{1B}[?1049h"
        static let leave = "\u{1B}[?1049l\u{1B}[23;2t"

        /// The replies to these tests' downloads never end.
        static func handler(_ request: FaultRequest) -> FaultReply {
            FaultReply(Content(seed: 77, size: 4 * mebibyte), etag: "\"v1\"").with { $0.gate = Gate(after: mebibyte) }
        }

        /// - Parameter shell: Whether an interactive shell starts dlm, says how it stopped, and continues it once.
        func watch(_ sandbox: DlmSandbox, inShell shell: Bool = false) throws -> ChildProcess {
            var launch = try sandbox.launch(["watch"])
            if shell {
                launch.executable = "/bin/bash"
                launch.arguments = [
                    "--norc", "-mic", "'\(try DlmSandbox.binary)' watch; echo stopped $?; fg; echo ended $?",
                ]
            }
            launch.terminalColumns = 80
            launch.outputIsTerminal = true
            // Otherwise Swift's runtime handles crashes.
            launch.environment["SWIFT_BACKTRACE"] = nil
            return try ChildProcess(launch)
        }

        func begin(
            _ sandbox: DlmSandbox, _ server: FaultServer, inShell shell: Bool = false
        ) async throws -> ChildProcess {
            _ = try await sandbox.startDaemon()
            try await sandbox.hand(["-x", "1", server.url("/first"), server.url("/second")])
            #expect(await server.waitUntil { $0.entries.count == 2 && $0.entries.allSatisfy { $0.sent > 0 } })
            let watch = try watch(sandbox, inShell: shell)
            await watch.expectSays("running 2")
            return watch
        }

        /// Waits for a text that is written after a position in the output.
        func expect(_ text: String, after start: Int, of watch: ChildProcess) async {
            let said = await watch.waitForOutput {
                String(decoding: $0.stderr.dropFirst(start), as: UTF8.self).contains(text)
            }
            #expect(said, "\(text)\n\(watch.standardError)")
        }

        @Test("Keys pause, resume and remove downloads of the background session, and q restores the terminal")
        func keys() async throws {
            try await withDlm(Self.handler) { sandbox, server in
                let watch = try await begin(sandbox, server)
                #expect(watch.standardError.contains(Self.enter))
                watch.type("p")
                await watch.expectSays("1: first: paused")
                await watch.expectSays("paused 1")
                #expect(try await sandbox.show(1).state == "paused")
                watch.type("+")
                await watch.expectSays("1: first: priority 1")
                #expect(try await sandbox.show(1).priority == 1)
                var start = watch.standardError.utf8.count
                watch.type("r")
                await watch.expectSays("1 resumed")
                await expect("running 2", after: start, of: watch)
                watch.type("\u{1B}[B\u{1B}[B")
                watch.type("c")
                await watch.expectSays("Cancel 2: second? The fetched bytes are kept. (y/n)")
                watch.type("y")
                await watch.expectSays("2: second: cancelled")
                #expect(try await sandbox.show(2).state == "cancelled")
                watch.type("d")
                await watch.expectSays("Its partial file is deleted. (y/n)")
                watch.type("y")
                await watch.expectSays("1 removed")
                #expect(!sandbox.exists("second.part") && sandbox.exists("first.part"))
                start = watch.standardError.utf8.count
                watch.type("\u{1B}[A\r")
                await expect("from        " + server.url("/first"), after: start, of: watch)
                await expect("parts       ", after: start, of: watch)
                await expect("connection  \(server.url("")) ", after: start, of: watch)
                watch.type("q")
                watch.type("q")
                let result = try await watch.result()
                #expect(result.ending == .exited(0))
                #expect(result.stderr.hasSuffix(Self.leave + "dlm: 1 download goes on; see: dlm watch\r\n"))
                #expect(watch.restoredTerminal == true)
                #expect(try await sandbox.show(1).state == "running")
            }
        }

        @Test("a adds a pasted list in the background, and the window's title is kept and restored")
        func adding() async throws {
            try await withDlm(Self.handler) { sandbox, server in
                let watch = try await begin(sandbox, server)
                #expect(watch.standardError.contains("\u{1B}[22;2t"))
                await watch.expectSays("\u{1B}]2;dlm watch: 2 running")
                watch.type("a")
                await watch.expectSays("add URL: ")
                watch.type("\u{1B}[200~\(server.url("/third"))\r\(server.url("/q"))\u{1B}[201~")
                await watch.expectSays("add 2 URLs")
                #expect(try await sandbox.list().count == 2)
                watch.type("\r")
                await watch.expectSays("2 added")
                await watch.expectSays("running 4")
                #expect(try await sandbox.show(4).session == "background")
                watch.type("a")
                watch.type("gopher://a/\r")
                await watch.expectSays("0 added, 1 refused: ")
                watch.type("q")
                let result = try await watch.result()
                #expect(result.stderr.contains(Self.leave))
                #expect(sandbox.exists("third.part"))
            }
        }

        @Test("While a change still runs after q, Ctrl-Z stops the process")
        func stoppedAfterLeaving() async throws {
            try await withDlm(Self.handler) { sandbox, server in
                let watch = try await begin(sandbox, server, inShell: true)
                let daemon = try #require(sandbox.process(running: "daemon"))
                daemon.send(SIGSTOP)
                let start = watch.standardError.utf8.count
                watch.type("p")
                watch.type("q")
                await expect(Self.leave, after: start, of: watch)
                watch.type("\u{1A}")
                await expect("stopped \(128 + SIGTSTP)", after: start, of: watch)
                daemon.send(SIGCONT)
                await expect("ended 0", after: start, of: watch)
                #expect(try await sandbox.show(1).state == "paused")
            }
        }

        @Test("On a terminal, dlm alone says in one line that dlm watch shows running downloads")
        func alone() async throws {
            try await withDlm(Self.handler) { sandbox, server in
                _ = try await sandbox.startDaemon()
                try await sandbox.hand(["-x", "1", server.url("/first")])
                #expect(await server.waitUntil { $0.entries.contains { $0.sent > 0 } })
                var launch = try sandbox.launch([])
                (launch.terminalColumns, launch.outputIsTerminal) = (80, true)
                let hint = "dlm watch shows these downloads live, and takes keys.\r\n"
                #expect(try await ChildProcess(launch).result().stderr.hasSuffix(hint))
                try await sandbox.done("pause", "1")
                #expect(try await ChildProcess(launch).result().stderr.contains(hint) == false)
            }
        }

        @Test(
            "Signals restore the terminal and affect no download",
            arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGABRT, SIGSEGV, SIGBUS])
        func signals(signal: Int32) async throws {
            try await withDlm(Self.handler) { sandbox, server in
                let watch = try await begin(sandbox, server)
                let result = try await watch.expectEnd(by: signal)
                #expect(result.stderr.hasSuffix(Self.leave))
                #expect(watch.restoredTerminal == true)
                #expect(try await sandbox.show(1).state == "running")
            }
        }

        @Test("Ctrl-Z stops dlm watch and restores the terminal; fg draws everything again")
        func stopped() async throws {
            try await withDlm(Self.handler) { sandbox, server in
                let watch = try await begin(sandbox, server, inShell: true)
                let start = watch.standardError.utf8.count
                watch.type("\u{1A}")
                await expect(Self.leave, after: start, of: watch)
                await expect("stopped \(128 + SIGTSTP)", after: start, of: watch)
                await expect(Self.enter, after: start, of: watch)
                await expect("running 2", after: start, of: watch)
                watch.type("q")
                await expect("ended 0", after: start, of: watch)
                #expect(try await watch.result().ending == .exited(0))
                #expect(watch.restoredTerminal == true)
            }
        }

        @Test("After a change of the size, and after a stop and its end, everything is drawn again")
        func redraw() async throws {
            try await withDlm(Self.handler) { sandbox, server in
                let watch = try await begin(sandbox, server)
                var start = watch.standardError.utf8.count
                watch.resizeTerminal(columns: 40)
                await expect("\u{1B}[2J", after: start, of: watch)
                await expect("running 2", after: start, of: watch)
                start = watch.standardError.utf8.count
                watch.send(SIGSTOP)
                watch.send(SIGCONT)
                await expect(Self.enter, after: start, of: watch)
                watch.type("q")
                #expect(try await watch.result().ending == .exited(0))
                #expect(watch.restoredTerminal == true)
            }
        }

        @Test("While the size changes, no line is wider than the terminal, and the terminal is restored afterwards")
        func resizing() async throws {
            try await withDlm(Self.handler) { sandbox, server in
                let watch = try await begin(sandbox, server)
                for columns in Array(10...80) + [200] {
                    watch.resizeTerminal(columns: columns)
                    watch.type(columns.isMultiple(of: 10) ? "\r" : "j")
                }
                // Only a wide terminal has room for the last hint.
                watch.type("\r")
                await watch.expectSays("s sort")
                let start = watch.standardError.utf8.count
                watch.resizeTerminal(columns: 33)
                await expect("\u{1B}[2J", after: start, of: watch)
                await expect("running 2", after: start, of: watch)
                watch.type("q")
                let result = try await watch.result()
                #expect(result.ending == .exited(0) && watch.restoredTerminal == true)
                let narrow = String(decoding: result.stderr.utf8.dropFirst(start), as: UTF8.self)
                let drawn = narrow.prefix(upTo: narrow.range(of: Self.leave)?.lowerBound ?? narrow.endIndex)
                for line in drawn.split(separator: /\e\[[0-9]+;1H/) {
                    let shown = line.replacing(/\e(\[[?0-9;]*[a-zA-Z]|\][^\u{7}]*\u{7})/, with: "")
                    #expect(shown.count < 33, "\(shown)")
                }
            }
        }

        @Test("--plain, numbers of downloads, --progress and TERM=dumb show the progress without keys")
        func plain() async throws {
            try await withDlm(Self.handler) { sandbox, server in
                _ = try await sandbox.startDaemon()
                try await sandbox.hand(["-x", "1", server.url("/first")])
                #expect(await server.waitUntil { $0.entries.contains { $0.sent > 0 } })
                for arguments in [["--plain"], ["1"], ["--progress", "bar"], ["dumb"]] {
                    var launch = try sandbox.launch(["watch"] + arguments.filter { $0 != "dumb" })
                    launch.terminalColumns = 80
                    launch.outputIsTerminal = true
                    if arguments == ["dumb"] { launch.environment["TERM"] = "dumb" }
                    let watch = try ChildProcess(launch)
                    await watch.expectSays("first")
                    let result = try await watch.expectEnd(by: SIGINT)
                    #expect(!result.stderr.contains(Self.enter), "\(arguments)")
                }
            }
        }
    }
}
