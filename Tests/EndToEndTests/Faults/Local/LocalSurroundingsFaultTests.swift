import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Faults of the environment", .serialized, .timeLimit(.minutes(3)))
    struct LocalSurroundingsFaultTests {
        static let homes = ["/dev/null", "relative", "/proc/nowhere"]

        @Test("Without a home folder: status 12, and the error says what to set")
        func home() async throws {
            try await eachCell(FaultTrial.short(Self.homes, each: 2)) { try await home($0) }
        }

        private func home(_ home: String) async throws {
            try await withDlm(serving: LocalTrial.reply(connections: 1)) { sandbox, server in
                let trial = LocalTrial("HOME is \(home)", sandbox, server)
                var launch = try trial.launch()
                launch.environment["HOME"] = home
                launch.environment["XDG_STATE_HOME"] = nil
                launch.environment["XDG_CONFIG_HOME"] = nil
                let result = try await ChildProcess(launch).result()
                try trial.judge(result, errors: [12])
                #expect(result.stderr.contains("XDG_STATE_HOME"), "\(result.stderr)")
                try await trial.expectRecovery()
            }
        }

        @Test(
            "Without HOME, the home folder comes from the password database",
            .enabled(if: geteuid() == 0, "needs root, for a password database of its own"))
        func unset() async throws {
            for home in [nil, ""] {
                try await withDlm(serving: LocalTrial.reply(connections: 1)) { sandbox, server in
                    let trial = LocalTrial("HOME is \(home == nil ? "not set" : "empty")", sandbox, server)
                    let elsewhere = try TemporaryFolder()
                    try elsewhere.write("root:x:0:0::\(elsewhere.path):/bin/sh\n", to: "passwd")
                    let script = "/usr/bin/mount --bind \"$0\" /etc/passwd && exec \"$@\""
                    var launch = try trial.launch(
                        through: ["/usr/bin/unshare", "-m", "/bin/sh", "-c", script, elsewhere("passwd")])
                    launch.environment["HOME"] = home
                    launch.environment["XDG_STATE_HOME"] = nil
                    launch.environment["XDG_CONFIG_HOME"] = nil
                    try trial.judge(try await ChildProcess(launch).result(), errors: [])
                    #expect(elsewhere.exists(".local/state/dlm/downloads.sqlite"))
                }
            }
        }

        @Test(
            "Without /proc, a download is refused in one line, and is not taken for no arguments",
            .enabled(if: geteuid() == 0, "needs root, for a file system in the place of /proc"))
        func noProcesses() async throws {
            try await withDlm(serving: LocalTrial.reply(connections: 1)) { sandbox, server in
                let trial = LocalTrial("no /proc", sandbox, server)
                let script = "/usr/bin/mount -t tmpfs none /proc && exec \"$0\" \"$@\""
                let result = try await ChildProcess(
                    trial.launch(through: ["/usr/bin/unshare", "-m", "/bin/sh", "-c", script])
                ).result()
                #expect(result.ending == .exited(1), "\(result)")
                #expect(result.stdout.isEmpty && result.stderr.contains("/proc is not mounted"), "\(result)")
            }
        }

        static let environments: [[String: String]] = [
            ["PATH": "", "TMPDIR": "/nonexistent", "TMP": "/dev/null"],
            ["LANG": "xx_YY.UTF-7", "LC_ALL": "C", "TERM": "", "TZ": "Nowhere/Land", "COLUMNS": "-5"],
            ["XDG_CONFIG_HOME": "/dev/null"], ["XDG_CONFIG_HOME": "relative"], [:],
        ]

        @Test("Odd or empty environment variables have no effect")
        func environment() async throws {
            try await eachCell(FaultTrial.short(Self.environments, each: 1)) { try await environment($0) }
        }

        private func environment(_ variables: [String: String]) async throws {
            let reply = LocalTrial.reply(connections: 4).with { $0.bytesPerSecond = nil }
            try await withDlm(serving: reply) { sandbox, server in
                let trial = LocalTrial("environment \(variables.keys.sorted())", connections: 4, sandbox, server)
                var launch = try trial.launch()
                let state = launch.environment["XDG_STATE_HOME"]
                launch.environment = ["XDG_STATE_HOME": state ?? "", "HOME": sandbox.root("home")]
                launch.environment.merge(variables) { $1 }
                try trial.judge(try await ChildProcess(launch).result(), errors: [])
            }
        }

        static let streams = [">&- 2>&-", ">&-", "2>&-", "<&-", "<&- >&- 2>&-", "2>/dev/full"]

        @Test("With closed streams, the status is right, and no output is written to a file")
        func closedStreams() async throws {
            try await eachCell(Self.streams) { try await closedStreams($0) }
        }

        private func closedStreams(_ redirections: String) async throws {
            let words = FaultTrial.isFull ? [[], ["--json"], ["--progress", "plain", "-v"]] : [["-v"]]
            for options in words {
                let reply = LocalTrial.reply(connections: 4).with { $0.bytesPerSecond = nil }
                try await withDlm(serving: reply) { sandbox, server in
                    let trial = FaultTrial(area: .local, fault: "streams \(redirections)", connections: 4)
                    let shell = Through.shell("", redirections: redirections)
                    let launch = try sandbox.launch(through: shell, ["get", "-x", "4", server.url()] + options)
                    let result = try await ChildProcess(launch).result()
                    #expect(result.ending == .exited(0), "\(redirections) \(result.stderr)")
                    try expectFile(LocalTrial.content, "file.bin", in: sandbox, redirections)
                    trial.note(result, isRight: result.ending == .exited(0))
                    // Without streams, a failure is visible only in the status.
                    let gone = try sandbox.launch(through: shell, ["get", "gopher://h/x"] + options)
                    #expect(try await ChildProcess(gone).result().ending == .exited(2), "\(redirections)")
                }
            }
        }

        @Test("A full standard output gives exit status 3, and the file is complete")
        func fullOutput() async throws {
            try await eachCell([">/dev/full", ">/dev/full 2>&1"]) { try await fullOutput($0) }
        }

        private func fullOutput(_ redirections: String) async throws {
            try await withDlm(serving: FaultReply(LocalTrial.content)) { sandbox, server in
                let trial = FaultTrial(area: .local, fault: "streams \(redirections)")
                let shell = Through.shell("", redirections: redirections)
                let result = try await sandbox.run(through: shell, ["get", server.url()])
                #expect(result.ending == .exited(3), "\(result.stderr)")
                try expectFile(LocalTrial.content, "file.bin", in: sandbox)
                trial.note(result, isRight: result.ending == .exited(3))
            }
        }

        @Test("The background session starts without streams, and without a place for temporary files")
        func background() async throws {
            try await withDlm(serving: FaultReply(LocalTrial.content)) { sandbox, server in
                let shell = Through.shell("", redirections: "<&- >&- 2>&-")
                var launch = try sandbox.launch(through: shell, ["get", "-b", server.url()])
                launch.environment["TMPDIR"] = "/nonexistent"
                #expect(try await ChildProcess(launch).result().ending == .exited(0))
                let result = try await sandbox.perform("wait", "1")
                try expectDownloaded(LocalTrial.content, as: "file.bin", by: result, in: sandbox)
                FaultTrial(area: .local, fault: "get -b without streams").note(result, isRight: true)
            }
        }

        @Test("The current folder was deleted: an error, and nothing is written elsewhere; with -d the download works")
        func currentFolderDeleted() async throws {
            try await withDlm(serving: FaultReply(LocalTrial.content)) { sandbox, server in
                let trial = LocalTrial("current folder deleted", sandbox, server)
                let gone = Through.shell("mkdir gone && cd gone && rmdir ../gone")
                let result = try await trial.run(through: gone)
                try trial.judge(result, errors: [2, 3])
                #expect(result.ending != .exited(0) && result.stderr.contains("-d"), "\(result.stderr)")
                #expect(!FileManager.default.fileExists(atPath: "/file.bin"))
                try trial.judge(try await trial.run(through: gone, ["-d", sandbox.files]), errors: [])
            }
        }

        @Test("A folder whose name is not UTF-8: an error, or the file is in the folder")
        func notUTF8() async throws {
            try await eachCell([true, false]) { try await notUTF8($0) }
        }

        private func notUTF8(_ isCurrent: Bool) async throws {
            try await withDlm(serving: FaultReply(LocalTrial.content)) { sandbox, server in
                let trial = LocalTrial("folder name not UTF-8, \(isCurrent ? "current" : "-d")", sandbox, server)
                let script =
                    "d=$(printf 'a\\377\\376'); mkdir \"$d\"; " + (isCurrent ? "cd \"$d\"" : "set -- \"$@\" -d \"$d\"")
                let result = try await trial.run(through: Through.shell(script))
                try trial.judge(result, errors: [2, 3])
                #expect(result.ending != .exited(0) && result.stderr.contains("UTF-8"), "\(result.stderr)")
                #expect(sandbox.names.count == 1, "\(sandbox.names)")
                try await trial.expectRecovery()
            }
        }

        @Test("A link can lead to a folder whose own name is not UTF-8")
        func linkToNotUTF8() async throws {
            try await withDlm(serving: FaultReply(LocalTrial.content)) { sandbox, server in
                let trial = FaultTrial(area: .local, fault: "folder name not UTF-8, reached by a link")
                let script = "d=$(printf 'a\\377\\376'); mkdir \"$d\"; ln -s \"$d\" link"
                let shell = Through.shell(script)
                let result = try await sandbox.run(through: shell, ["get", "-d", "link", server.url()])
                try trial.judge(result, in: sandbox, right: [LocalTrial.content], errors: [], as: "link/file.bin")
                #expect(sandbox.names.count == 2, "\(sandbox.names)")
            }
        }

        static let lengths = [4096, 3000, 4080, 4085, 4090, 4095, 5000, 20_000]

        @Test("Paths of many lengths: an error or the right file")
        func longPath() async throws {
            try await eachCell(FaultTrial.short(Self.lengths, each: 2)) { try await longPath($0) }
        }

        private func longPath(_ length: Int) async throws {
            try await withDlm(serving: FaultReply(LocalTrial.content)) { sandbox, server in
                let trial = FaultTrial(area: .local, fault: "path of \(length) bytes")
                // The folder is so long that a path with the final name has exactly this length.
                var folder = "deep"
                while sandbox.file(folder).utf8.count + 9 < length {
                    let room = length - sandbox.file(folder).utf8.count - 9 - 1
                    folder += "/" + String(repeating: "d", count: max(1, min(200, room)))
                }
                let result = try await sandbox.run("get", "-d", folder, server.url())
                try trial.judge(
                    result, in: sandbox, right: [LocalTrial.content], errors: [3], as: folder + "/file.bin")
                #expect(result.errorLines.count <= 1)
                if length < 3500 { #expect(result.ending == .exited(0), "\(result.stderr)") }
            }
        }

        @Test("With a umask that removes all permissions, the next command can continue the download")
        func mask() async throws {
            try await eachCell(["0777", "0700", "0000"]) { try await mask($0) }
        }

        private func mask(_ mask: String) async throws {
            try await withDlm(serving: LocalTrial.reply(connections: 1)) { sandbox, server in
                let trial = LocalTrial("umask \(mask)", moment: .resume, sandbox, server)
                let program = Array(Through.withoutPrivileges) + Through.shell("umask \(mask)")
                try await trial.interrupt(through: program)
                try trial.judge(try await sandbox.run(through: program, ["resume", "1"]), errors: [])
                let others = try FileManager.default.attributesOfItem(atPath: sandbox.state + "/dlm/downloads.sqlite")
                #expect(others[.posixPermissions] as? Int == 0o600)
            }
        }
    }
}
