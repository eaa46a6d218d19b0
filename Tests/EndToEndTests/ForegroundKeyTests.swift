import DownloadCore
import DownloadEngine
import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Keys in a foreground get", .serialized, .timeLimit(.minutes(2)))
    struct ForegroundKeyTests {
        static let content = Content(seed: 88, size: 4 * mebibyte + 5)
        static let pasteMode = "\u{1B}[?2004h"

        /// An answer that stalls after 1 MiB.
        static func stalling(_ gate: Gate = Gate(after: mebibyte)) -> FaultReply {
            FaultReply(content, etag: "\"v1\"").with { $0.gate = gate }
        }

        /// - Parameter script: The commands of an interactive shell, in which `GET` starts dlm.
        func get(_ sandbox: DlmSandbox, _ arguments: [String], inShell script: String? = nil) throws -> ChildProcess {
            var launch = try sandbox.launch(["get", "-x", "1"] + arguments)
            if let script {
                let words = ([launch.executable] + launch.arguments).map { "'\($0)'" }.joined(separator: " ")
                let whole = script.replacing("GET", with: words)
                (launch.executable, launch.arguments) = ("/bin/bash", ["--norc", "-mic", whole])
            }
            launch.terminalColumns = 80
            // Otherwise Swift's runtime handles crashes.
            launch.environment["SWIFT_BACKTRACE"] = nil
            return try ChildProcess(launch)
        }

        /// Starts a download of which 1 MiB has come, and whose keys are read.
        func begin(
            _ sandbox: DlmSandbox, _ server: FaultServer, _ arguments: [String] = [], inShell script: String? = nil
        ) async throws -> ChildProcess {
            let get = try get(sandbox, arguments + [server.url()], inShell: script)
            try await sandbox.waitToRecord(mebibyte)
            await get.expectSays(Self.pasteMode)
            return get
        }

        func expect(_ text: String, after start: Int, of get: ChildProcess) async {
            let said = await get.waitForOutput {
                String(decoding: $0.stderr.dropFirst(start), as: UTF8.self).contains(text)
            }
            #expect(said, "\(text)\n\(get.standardError)")
        }

        @Test("p pauses and goes on, l limits, i shows details, and a paste does nothing")
        func keys() async throws {
            let gate = Gate(after: mebibyte)
            try await withDlm(serving: Self.stalling(gate)) { sandbox, server in
                let get = try await begin(sandbox, server)
                get.type("\u{1B}[200~pb\n\u{1B}[201~")
                get.type("?")
                await get.expectSays("pause all downloads of this command, or go on")
                var start = get.standardError.utf8.count
                get.type("?")
                await expect("\u{1B}[J", after: start, of: get)
                get.type("p")
                try await sandbox.waitToShow(1) { $0.state == "paused" }
                #expect(await server.waitUntil { $0.openConnections == 0 })
                let paused = try await sandbox.show(1)
                server.handle { _ in FaultReply(Self.content, etag: "\"v1\"").with { $0.gate = Gate(after: 1) } }
                start = get.standardError.utf8.count
                get.type("p")
                #expect(await server.waitUntil { $0.entries.count == 2 && $0.entries[1].start != nil })
                #expect(server.log.entries.last?.start == paused.received - Overlap.resumed)
                get.type("l")
                await expect("limit (500k, 2M, none): ", after: start, of: get)
                get.type("300k\r")
                await expect("limit now 300 KiB/s", after: start, of: get)
                #expect(try await sandbox.show(1).rateLimit == 300 << 10)
                start = get.standardError.utf8.count
                get.type("i")
                await expect("from        " + server.url(), after: start, of: get)
                await expect("parts       ██", after: start, of: get)
                await expect("connection  \(server.url("")) ", after: start, of: get)
                let result = try await get.expectEnd(by: SIGINT)
                #expect(result.stderr.contains("paused at"))
                #expect(get.restoredTerminal == true)
            }
        }

        @Test("b hands the download to the background session: each byte is sent once, except for the overlap check")
        func background() async throws {
            try await withDlm(serving: Self.stalling()) { sandbox, server in
                let get = try await begin(sandbox, server, ["-H", "Authorization: Bearer letmein"])
                try await sandbox.waitToShow(1) { $0.received == mebibyte }
                server.handle { _ in FaultReply(Self.content, etag: "\"v1\"") }
                get.type("b")
                let result = try await get.result()
                #expect(result.ending == .exited(1))
                #expect(result.stderr.contains("dlm: 1: file.bin: continues in session background"), "\(result.stderr)")
                #expect(get.restoredTerminal == true)
                #expect(try await sandbox.run("wait", "1").ending == .exited(0))
                try expectFile(Self.content, "file.bin", in: sandbox)
                let entries = server.log.entries
                #expect(entries.map(\.start) == [0, mebibyte - Overlap.resumed])
                #expect(server.log.bytesSentTwice() == Overlap.resumed)
                #expect(entries.allSatisfy { $0.request["Authorization"] == "Bearer letmein" })
            }
        }

        @Test("b is refused if the downloads are not recorded")
        func ephemeral() async throws {
            try await withDlm(serving: Self.stalling()) { sandbox, server in
                let get = try get(sandbox, ["--ephemeral", server.url()])
                #expect(await server.waitUntil { $0.bytesSent >= mebibyte })
                await get.expectSays(Self.pasteMode)
                await get.expectSays("%")
                get.type("b")
                await get.expectSays("these downloads are not recorded")
                _ = try await get.expectEnd(by: SIGINT)
            }
        }

        @Test("While the size changes, the display goes on, and the terminal is restored afterwards")
        func resized() async throws {
            try await withDlm(serving: Self.stalling()) { sandbox, server in
                let get = try await begin(sandbox, server)
                get.type("i")
                // Two letters that are read at once are a paste.
                await expect("from        " + server.url(), after: 0, of: get)
                for columns in Array(10...60) + [72] { get.resizeTerminal(columns: columns) }
                let start = get.standardError.utf8.count
                get.type("?")
                await expect("go on in the background; this command ends with status 1", after: start, of: get)
                _ = try await get.expectEnd(by: SIGTERM)
                #expect(get.restoredTerminal == true)
            }
        }

        @Test(
            "Whatever ends the command, the terminal is restored",
            arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGABRT, SIGSEGV])
        func signals(signal: Int32) async throws {
            try await withDlm(serving: Self.stalling()) { sandbox, server in
                let get = try await begin(sandbox, server)
                let result = try await get.expectEnd(by: signal)
                #expect(result.stderr.contains("\u{1B}[?2004l"))
                #expect(get.restoredTerminal == true)
            }
        }

        @Test("Ctrl-Z stops the command at once and restores the terminal; after fg, keys are read again")
        func stopped() async throws {
            try await withDlm(serving: Self.stalling()) { sandbox, server in
                let get = try await begin(sandbox, server, inShell: "GET; echo stopped $? >&2; fg")
                var start = get.standardError.utf8.count
                get.type("\u{1A}")
                await expect("\u{1B}[?2004l", after: start, of: get)
                await expect("stopped \(128 + SIGTSTP)", after: start, of: get)
                await expect(Self.pasteMode, after: start, of: get)
                start = get.standardError.utf8.count
                get.type("?")
                await expect("Ctrl-C", after: start, of: get)
                get.type("\u{3}")
                await expect("paused at", after: start, of: get)
                _ = try await get.result()
                #expect(get.restoredTerminal == true)
            }
        }

        @Test("Lines that were typed before are for the shell, and without a terminal on stdin nothing changes")
        func noKeys() async throws {
            let gate = Gate(after: mebibyte)
            try await withDlm(serving: Self.stalling(gate)) { sandbox, server in
                // The shell takes one line. The others wait in the terminal when dlm starts.
                let early = try get(
                    sandbox, [server.url()],
                    inShell: "read -r line; GET; read -r line; echo \"the shell read $line\" >&2")
                early.type("begin\np\nb\n")
                try await sandbox.waitToRecord(mebibyte)
                await early.expectSays("%")
                gate.open()
                await early.expectSays("the shell read p")
                #expect(try await early.result().stderr.contains(Self.pasteMode) == false)
                let result = try await get(sandbox, ["-d", "other", server.url()], inShell: "GET </dev/null").result()
                #expect(result.ending == .exited(0) && !result.stderr.contains(Self.pasteMode))
            }
        }
    }
}
