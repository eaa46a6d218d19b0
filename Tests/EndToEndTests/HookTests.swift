import DownloadTestSupport
import Foundation
import Testing

extension DlmSandbox {
    /// Writes a program that records each of its runs in the folder `runs`: variables, input and folder. Then the
    /// program runs `more`.
    fileprivate func hook(_ name: String = "hook", _ more: String = "") throws -> String {
        try root.makeFolder("runs")
        try root.write(
            """
            #!/bin/sh
            run=$(mktemp -d -p '\(root("runs"))') || exit
            printf '%s' "$DLM_ID" >"$run/id"
            printf '%s' "$DLM_PATH" >"$run/path"
            printf '%s' "$DLM_STATE $DLM_EXIT_STATUS" >"$run/state"
            pwd >"$run/folder"
            cat >"$run/input"
            env >"$run/environment"
            \(more)
            : >"$run/done"

            """, to: name)
        #expect(chmod(root(name), 0o755) == 0)
        return root(name)
    }

    fileprivate var runs: [HookRun] {
        root.names(in: "runs").filter { root.exists("runs/\($0)/done") }.map { HookRun(root, "runs/\($0)") }
    }

    /// The number of runs that have begun, whether they have ended or not.
    fileprivate var begun: Int { root.names(in: "runs").count }
}

private struct HookRun {
    let root: TemporaryFolder
    let folder: String

    init(_ root: TemporaryFolder, _ folder: String) { (self.root, self.folder) = (root, folder) }

    func text(_ name: String) throws -> String { try root.read("\(folder)/\(name)") }

    struct Finished: Decodable {
        struct Failure: Decodable {
            let kind: String
            let httpStatus: Int?
        }

        let version: Int
        let event: String
        let id: Int
        let path: String?
        let url: String
        let error: Failure?
    }

    func input() throws -> Finished { try JSONDecoder().decode(Finished.self, from: Data(try text("input").utf8)) }
}

extension EndToEnd {
    @Suite("Hooks", .serialized, .timeLimit(.minutes(2)))
    struct HookTests {
        let content = Content(seed: 770, size: 200_000)

        @Test(
            "--on-complete runs in the file's folder, with variables and JSON; dlm waits; hook output goes to stderr")
        func complete() async throws {
            try await withDlm(serving: FaultReply(content, etag: "\"v\"")) { sandbox, server in
                let hook = try sandbox.hook("hook", "echo said; test -f \"$DLM_PATH\" || exit 1; sleep 0.3")
                let result = try await sandbox.run(
                    "get", "--on-complete", hook, "--on-error", "/bin/false", "-d", "sub", server.url("/x.bin"))
                try expectDownloaded(content, as: "sub/x.bin", by: result, in: sandbox)
                #expect(result.stderr == "said\n")
                let run = try #require(sandbox.runs.first)
                #expect(sandbox.runs.count == 1)
                #expect(try run.text("path") == sandbox.file("sub/x.bin") && run.text("id") == "1")
                #expect(try run.text("state") == "completed 0")
                #expect(try run.text("folder").hasSuffix("files/sub\n"))
                let input = try run.input()
                #expect(input.event == "finished" && input.version == 1 && input.path == sandbox.file("sub/x.bin"))
                // Nothing is fetched, and no hook is run.
                let again = try await sandbox.run("get", "--on-complete", hook, "-d", "sub", server.url("/x.bin"))
                #expect(again.ending == .exited(0) && sandbox.begun == 1)
            }
        }

        @Test("A failing hook gives a notice; an unusable program gives exit status 2 before anything is fetched")
        func failures() async throws {
            try await withDlm(serving: FaultReply(content)) { sandbox, server in
                let hook = try sandbox.hook("hook", "exit 7")
                let result = try await sandbox.run("get", "--on-complete", hook, server.url("/a"))
                try expectDownloaded(content, as: "a", by: result, in: sandbox)
                #expect(result.stderr == "dlm: 1: \(hook): ended with status 7\n")
                for program in ["no-such-program", "./none", sandbox.files, "hook.sh --fast", ""] {
                    let refused = try await sandbox.run("get", "--on-complete", program, server.url("/b"))
                    expectFailure(2, of: refused, program)
                }
                #expect(!sandbox.exists("b") && server.log.requests(to: "/b").isEmpty)
                // A program name without a slash is searched for in PATH.
                #expect(chmod(hook, 0o600) == 0)
                _ = try await sandbox.run("daemon", "start")
                let gone = try await sandbox.run("get", "--on-complete", "true", server.url("/c"))
                try expectDownloaded(content, as: "c", by: gone, in: sandbox)
                #expect(gone.stderr == "")
            }
        }

        @Test("A name from the server is data: spaces, quotes and dollars have no effect in a hook")
        func names() async throws {
            let name = "a b'c\"d$(touch pwned);`touch pwned` & é.txt"
            let reply = FaultReply(content).with {
                $0.fields = [("Content-Disposition", "attachment; filename*=UTF-8''" + Self.escaped(name))]
            }
            try await withDlm(serving: reply) { sandbox, server in
                let hook = try sandbox.hook("hook", "mv \"$DLM_PATH\" \"$run/moved\"")
                let folder = sandbox.file("new\nline 'x'")
                try await sandbox.done("get", "--on-complete", hook, "-d", folder, server.url("/x"))
                let run = try #require(sandbox.runs.first)
                #expect(try run.text("path") == folder + "/" + name)
                #expect(try run.input().path == folder + "/" + name)
                #expect(try sha256(of: sandbox.root("\(run.folder)/moved")) == content.sha256)
                #expect(!sandbox.exists("pwned") && sandbox.names == ["new\nline 'x'"])
            }
        }

        private static func escaped(_ text: String) -> String {
            text.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }

        @Test("For each of 200 downloads of a list, completed or failed, the hook runs exactly once")
        func many() async throws {
            let script: FaultServer.Handler = { request in
                request.target.hasSuffix("7") ? FaultReply(status: 404) : FaultReply(Content("x\(request.target)"))
            }
            try await withDlm(script) { sandbox, server in
                let hook = try sandbox.hook()
                let list = (0..<200).map { server.url("/f\($0)") }.joined(separator: "\n")
                let result = try await sandbox.run("get", "--on-complete", hook, "--on-error", hook, "-i", "-") {
                    $0.input = list
                }
                #expect(result.ending == .exited(8), "\(result.stderr)")
                let ids = try sandbox.runs.map { try $0.text("id") }
                #expect(ids.count == 200 && Set(ids).count == 200)
                #expect(try sandbox.runs.count { try $0.text("state") == "failed 8" } == 20)
            }
        }

        @Test("Hooks run in the background session, even after its restart, but not for a paused download")
        func background() async throws {
            let script: FaultServer.Handler = { [content] request in
                let reply = FaultReply(content, etag: "\"v\"")
                return request.target == "/stalls" && request.number < 3
                    ? reply.with { $0.cut = .stall(after: 100_000) } : reply
            }
            try await withDlm(script) { sandbox, server in
                let hook = try sandbox.hook("hook", "echo from the hook")
                for name in ["/a", "/stalls"] {
                    try await sandbox.done("get", "-b", "--on-complete", hook, server.url(name))
                }
                #expect(try await sandbox.perform("wait", "1").ending == .exited(0))
                #expect(try await sandbox.reach { $0.runs.count == 1 })
                #expect(try await sandbox.run("pause", "2").ending == .exited(0))
                #expect(try await sandbox.run("daemon", "stop").ending == .exited(0))
                #expect(sandbox.daemonLog.contains("from the hook"), "\(sandbox.daemonLog)")
                #expect(try await sandbox.run("daemon", "start").ending == .exited(0))
                #expect(sandbox.begun == 1)
                try await sandbox.done("resume", "-b", "2")
                #expect(try await sandbox.perform("wait", "2").ending == .exited(0))
                #expect(try await sandbox.reach { $0.runs.count == 2 })
                #expect(try await sandbox.run("daemon", "stop", "--finish").ending == .exited(0))
                #expect(Set(try sandbox.runs.map { try $0.text("id") }) == ["1", "2"])
            }
        }

        /// - Parameters:
        ///   - point: where dlm is killed.
        ///   - runs: how often the hook has run in the end.
        @Test(
            "After a kill near the end, the next session runs the hook once, unless its start was recorded",
            arguments: [
                ("beforeCompleted", 1), ("afterCompleted", 1), ("committed:3", 1), ("beforeHookTaken:2", 1),
                ("afterHookTaken", 0),
            ])
        func crash(point: String, runs: Int) async throws {
            try await withDlm(serving: FaultReply(content, etag: "\"v\"")) { sandbox, server in
                let hook = try sandbox.hook()
                let killed = try await sandbox.run("get", "--on-complete", hook, server.url("/a")) {
                    $0.environment["DLM_FAULT_POINT"] = point
                }
                try #require(killed.ending == .signalled(SIGKILL), "\(killed)")
                #expect(sandbox.begun == 0)
                // If the download was not complete in the store yet, it continues here, and a due hook is run.
                try await sandbox.done("get", "--on-complete", hook, server.url("/a"))
                try await sandbox.done("get", server.url("/b"))
                #expect(sandbox.runs.count == runs && sandbox.begun == runs, "\(point)")
                try expectFile(content, "a", in: sandbox)
            }
        }

        @Test("--ephemeral downloads have hooks, too, and a list cannot set hooks")
        func others() async throws {
            try await withDlm(serving: FaultReply(content)) { sandbox, server in
                let hook = try sandbox.hook()
                let result = try await sandbox.run("get", "--ephemeral", "--on-complete", hook, server.url("/a"))
                try expectDownloaded(content, as: "a", by: result, in: sandbox)
                #expect(sandbox.runs.count == 1)
                let list = try await sandbox.run("get", "-i", "-") {
                    $0.input = "\(server.url("/b"))\n  on-complete=\(hook)\n"
                }
                #expect(list.ending == .exited(2), "\(list)")
                #expect(sandbox.begun == 1)
            }
        }

        @Test("A joined download keeps the hooks with which it was added, and the joining command reports this")
        func joined() async throws {
            try await withDlm(holding: FaultReply(content, etag: "\"v\"")) { sandbox, server in
                let (own, other) = (try sandbox.hook("own"), try sandbox.hook("other", "touch \"$run/other\""))
                let first = try sandbox.start("get", "--on-complete", own, server.url("/a"))
                #expect(await server.waitUntil { $0.bytesSent > 10_000 })
                let second = try sandbox.start("get", "--on-complete", other, server.url("/a"))
                await second.expectSays("hooks that were given when it was added")
                server.releaseEnds()
                try expectDownloaded(content, as: "a", by: try await second.result(), in: sandbox)
                #expect(try await first.result().ending == .exited(0))
                #expect(sandbox.runs.count == 1)
                #expect(!sandbox.root.exists("\(try #require(sandbox.runs.first).folder)/other"))
            }
        }

        @Test(
            "Hooks can be set in config.yaml, also for one host; if a program is missing, only get fails (status 2)"
        )
        func settings() async throws {
            try await withDlm({ [content] in $0.target == "/gone" ? FaultReply(status: 404) : FaultReply(content) }) {
                sandbox, server in
                let (every, own) = (try sandbox.hook("every"), try sandbox.hook("own", "touch \"$run/own\""))
                try sandbox.configure("on-error: \(every)\nhosts:\n  127.0.0.1:\n    on-complete: \(own)\n")
                #expect(try await sandbox.run("get", server.url("/a")).ending == .exited(0))
                #expect(sandbox.runs.map { sandbox.root.exists("\($0.folder)/own") } == [true])
                #expect(try await sandbox.run("get", server.url("/gone")).ending == .exited(8))
                #expect(sandbox.runs.count == 2)
                let result = try await sandbox.run("get", server.url("/b")) {
                    $0.environment["DLM_ON_COMPLETE"] = every
                }
                #expect(result.ending == .exited(0) && sandbox.runs.count == 3, "\(result.stderr)")

                try sandbox.configure("on-complete: /no/such/program\nhook-timeout: 5s\n")
                expectFailure(2, of: try await sandbox.run("get", server.url("/c")))
                #expect(try await sandbox.list().count == 3 && !sandbox.exists("c"))
            }
        }

        @Test("A hook that reads or moves its file does not affect other downloads, even in a busy session")
        func writers() async throws {
            let large = Content(seed: 771, size: 4 * mebibyte)
            let script: FaultServer.Handler = { request in
                request.target.hasPrefix("/large")
                    ? FaultReply(large, etag: "\"v\"").with { $0.bytesPerSecond = 4_000_000 }
                    : FaultReply(Content("x\(request.target)"), etag: "\"x\"")
            }
            try await withDlm(script) { sandbox, server in
                let hook = try sandbox.hook(
                    "hook", "cat \"$DLM_PATH\" >/dev/null; mv \"$DLM_PATH\" \"$DLM_PATH.moved\"")
                let urls = (0..<3).map { server.url("/large\($0)") } + (0..<60).map { server.url("/s\($0)") }
                let result = try await sandbox.run(["get", "-q", "--on-complete", hook]) { $0.arguments += urls }
                #expect(result.ending == .exited(0) && result.stderr == "", "\(result.stderr)")
                #expect(sandbox.runs.count == 63 && sandbox.names.allSatisfy { $0.hasSuffix(".moved") })
            }
        }

        @Test("No password or secret field is in a hook's environment or input, or in the store while it runs")
        func secrets() async throws {
            try await withDlm(serving: FaultReply(content, etag: "\"v\"")) { sandbox, server in
                let hook = try sandbox.hook("hook", "kill -STOP $$")
                let search = SecretSearch(sandbox: sandbox)
                let address = server.url("/a?token=\(SecretSearch.signature)")
                let url = address.replacing("http://", with: "http://ann:\(SecretSearch.password)@")
                for mode in [[], ["-b"]] {
                    let words =
                        ["get", "--on-complete", hook, "-d", "d\(mode.count)", url] + mode + SecretSearch.headers
                    let process = try sandbox.start(words)
                    #expect(try await sandbox.reach { $0.stoppedHook != nil })
                    try search.expectNoTrace("hooks \(mode)")
                    let stopped = try #require(sandbox.stoppedHook)
                    stopped.send(SIGCONT)
                    search.expectSilent(try await process.result(), mode)
                    #expect(try await sandbox.reach { $0.stoppedHook == nil })
                }
                #expect(try await sandbox.reach { $0.runs.count == 2 })
                for run in sandbox.runs {
                    let told = try run.text("environment") + run.text("input")
                    for secret in SecretSearch.secrets { #expect(!told.contains(secret), "\(secret)") }
                    #expect(try !run.text("environment").contains(SecretSearch.signature))
                    // The JSON has the whole URL, with which the download can be resumed.
                    #expect(try run.input().url == address)
                }
            }
        }
    }
}

extension DlmSandbox {
    /// Waits for a condition on disk. Returns false if the condition does not hold within 45 seconds.
    fileprivate func reach(_ isMet: (DlmSandbox) -> Bool) async throws -> Bool {
        try await ask(in: root("runs"), atMost: .seconds(45)) {
            isMet(self)
        } until: {
            $0
        }
    }

    /// The shell of a hook that has stopped itself.
    fileprivate var stoppedHook: ForeignProcess? {
        ForeignProcess.all(of: root).first { process in
            let state = try? process.file("stat").split(separator: ")").last?.split(separator: " ").first
            return state == "T" && (try? process.file("cmdline"))?.contains("/hook") == true
        }
    }
}
