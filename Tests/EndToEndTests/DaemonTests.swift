import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("The process of the background session", .serialized, .timeLimit(.minutes(2)))
    struct DaemonTests {
        @Test("Twenty simultaneous daemon start commands start one session, and all succeed")
        func race() async throws {
            try await withDlm { sandbox in
                let starts = try (0..<20).map { _ in try sandbox.start("daemon", "start", "--json") }
                var pids: Set<Int32?> = []
                for start in starts {
                    let result = try await start.result()
                    #expect(result.ending == .exited(0), "\(result.stderr)")
                    pids.insert(try sandbox.status(result).pid)
                }
                #expect(pids.count == 1)
                let one = try #require(try await sandbox.daemonStatus().pid)
                #expect(pids == [one])
                // Processes that came too late to become the session must end.
                for other in ForeignProcess.all(of: sandbox.root) where other.pid != one {
                    #expect(await other.waitForEnd(), "\(other.pid)")
                }
                #expect(sandbox.daemonLog.split(separator: "\n").count == 1, "\(sandbox.daemonLog)")
            }
        }

        @Test("A stale lock and a stale socket are no obstacle", arguments: [true, false])
        func stale(isKilled: Bool) async throws {
            try await withDlm { sandbox in
                let sessions = sandbox.stateFolder + "/sessions"
                if isKilled {
                    let daemon = try await sandbox.startDaemon()
                    daemon.send(SIGKILL)
                    #expect(await daemon.waitForEnd())
                } else {
                    try sandbox.root.write("1\n", to: "state/dlm/sessions/background.lock")
                    _ = try UnixSocket(.stream, at: sessions + "/background.sock")
                }
                #expect(FileManager.default.fileExists(atPath: sessions + "/background.lock"))
                #expect(FileManager.default.fileExists(atPath: sessions + "/background.sock"))
                let daemon = try await sandbox.startDaemon()
                #expect(try await sandbox.daemonStatus().pid == daemon.pid)
            }
        }

        @Test("A second daemon start finds the session, and changes its limits while it runs")
        func again() async throws {
            try await withDlm { sandbox in
                let daemon = try await sandbox.startDaemon("-j", "3")
                #expect(try await sandbox.daemonStatus().maxConcurrent == 3)
                let again = try await sandbox.done("daemon", "start", "--limit-rate", "2M")
                #expect(again.stderr == "dlm: the background session is running (pid \(daemon.pid))\n")
                let status = try await sandbox.daemonStatus()
                #expect(status.pid == daemon.pid && status.maxConcurrent == 3 && status.rateLimit == 2 << 20)
                #expect(status.version == 1 && status.identifier == "background")
                #expect(status.socket == sandbox.stateFolder + "/sessions/background.sock")
            }
        }

        @Test("Without a session, daemon status ends with 1 and daemon stop with 0")
        func absent() async throws {
            try await withDlm { sandbox in
                let status = try await sandbox.run("daemon", "status")
                #expect(status.ending == .exited(1))
                #expect(status.stdout.hasPrefix("not running\n"))
                let json = try await sandbox.daemonStatus()
                #expect(json.pid == nil && json.identifier == "background" && json.version == 1)
                let stop = try await sandbox.done("daemon", "stop")
                #expect(stop.stderr == "dlm: the background session is not running\n")
            }
        }

        @Test("daemon stop returns when the process has ended, and its lock and socket are gone")
        func stop() async throws {
            try await withDlm { sandbox in
                let daemon = try await sandbox.startDaemon()
                try await sandbox.done("daemon", "stop")
                #expect(daemon.hasEnded)
                #expect(sandbox.root.names(in: "state/dlm/sessions") == [])
                #expect(sandbox.daemonLog.hasSuffix("Z stopped\n"), "\(sandbox.daemonLog)")
            }
        }

        @Test("The session has no terminal and no open file of the command that started it, and its log is private")
        func detached() async throws {
            try await withDlm { sandbox in
                // Like the lock of a cron job, this lock must be free as soon as the script has ended. So the session
                // must not inherit the open file.
                let lock = sandbox.root("cron.lock")
                let held = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
                #expect(flock(held, LOCK_EX) == 0)
                let started = try await sandbox.run("daemon", "start", "--json") {
                    $0.passed = held
                    $0.terminalColumns = 80
                    $0.environment["NOTIFY_SOCKET"] = sandbox.root("nobody")
                    $0.runInShell(after: "umask 000; exec 9<&3 3<&-")
                }
                close(held)
                #expect(started.ending == .exited(0), "\(started.stderr)")
                let daemon = try sandbox.daemon(started)
                let other = open(lock, O_RDWR | O_CLOEXEC)
                // A process that another test is starting keeps a copy of the descriptor until its exec.
                let limit = ContinuousClock.now + .seconds(45)
                var isFree = false
                while !isFree, ContinuousClock.now < limit {
                    isFree = flock(other, LOCK_EX | LOCK_NB) == 0
                    await Task.yield()
                }
                #expect(isFree)
                close(other)

                let fields = try daemon.file("stat").split(separator: " ")
                // The fields are: pid, name, state, parent, group, session, terminal (proc_pid_stat(5)).
                #expect(fields[1] == "(dlm)")
                #expect(fields[4] == "\(daemon.pid)" && fields[5] == "\(daemon.pid)" && fields[6] == "0")
                #expect(try daemon.link("cwd") == "/")
                #expect(try daemon.link("fd/0") == "/dev/null")
                let log = sandbox.stateFolder + "/daemon.log"
                #expect(try daemon.link("fd/1") == log && daemon.link("fd/2") == log)
                #expect(try daemon.file("status").contains("\nUmask:\t0000\n"))
                #expect(try !daemon.file("environ").contains("NOTIFY_SOCKET"))
                #expect(try sandbox.mode(of: log) == 0o600)
                #expect(try sandbox.mode(of: sandbox.stateFolder + "/sessions/background.sock") == 0o600)
                #expect(try sandbox.mode(of: sandbox.stateFolder + "/sessions/background.lock") == 0o600)
            }
        }

        @Test("A large log is renamed when the next session starts")
        func rotated() async throws {
            try await withDlm { sandbox in
                let old = String(repeating: "old\n", count: 300_000)
                try sandbox.root.write(old, to: "state/dlm/daemon.log")
                let daemon = try await sandbox.startDaemon()
                #expect(try sandbox.root.read("state/dlm/daemon.log.1") == old)
                #expect(sandbox.daemonLog.contains("started: dlm "))
                #expect(try daemon.link("fd/2") == sandbox.stateFolder + "/daemon.log")
                #expect(try sandbox.mode(of: sandbox.stateFolder + "/daemon.log") == 0o600)
            }
        }

        @Test("If a session cannot start, daemon start reports the reason and ends with the status of the session")
        func failing() async throws {
            try await withDlm { sandbox in
                try sandbox.root.write("", to: "state/dlm/sessions")
                let started = try await sandbox.run("daemon", "start")
                expectFailure(12, of: started)
                #expect(started.stderr.contains("/sessions: is not a folder"), "\(started.stderr)")
                #expect(sandbox.daemonLog.contains("/sessions: is not a folder"))
                let run = try await sandbox.run("daemon", "run")
                #expect(run.ending == .exited(12))
                #expect(run.stderr == started.stderr)
            }
        }

        @Test("A second session in the foreground is refused")
        func second() async throws {
            try await withDlm { sandbox in
                let daemon = try await sandbox.startDaemon()
                let second = try await sandbox.run("daemon", "run")
                expectFailure(12, of: second)
                #expect(second.stderr.contains("running already"))
                #expect(!daemon.hasEnded)
            }
        }

        @Test("If the session is stopped (SIGSTOP), daemon commands end with status 12 within 20 seconds")
        func silent() async throws {
            try await withDlm { sandbox in
                let daemon = try await sandbox.startDaemon()
                daemon.send(SIGSTOP)
                for command in ["status", "stop", "start"] {
                    let result = try await sandbox.run("daemon", command)
                    expectFailure(12, of: result, command)
                    #expect(result.duration < promised(within: .seconds(20)), "\(command)")
                }
                daemon.send(SIGCONT)
                #expect(try await sandbox.daemonStatus().pid == daemon.pid)
            }
        }
    }
}
