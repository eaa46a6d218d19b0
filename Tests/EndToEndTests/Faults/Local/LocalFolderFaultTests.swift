import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Faults of folders", .serialized, .timeLimit(.minutes(3)))
    struct LocalFolderFaultTests {
        /// The faults of the folder of a download.
        enum Fate: String, CaseIterable {
            case moved = "folder moved away"
            case deleted = "folder deleted"
            case replaced = "folder moved away, another in its place"
            case madeAgain = "folder deleted and made again"
            case becameFile = "folder moved away, a file in its place"
            case linked = "folder moved, a link to it in its place"

            func apply(to folder: String, aside: String) throws {
                let files = FileManager.default
                switch self {
                case .moved, .replaced, .becameFile, .linked: try files.moveItem(atPath: folder, toPath: aside)
                case .deleted, .madeAgain: try files.removeItem(atPath: folder)
                }
                switch self {
                case .moved, .deleted: break
                case .replaced, .madeAgain:
                    try files.createDirectory(atPath: folder, withIntermediateDirectories: false)
                case .becameFile: try Data("x".utf8).write(to: URL(fileURLWithPath: folder))
                case .linked: try files.createSymbolicLink(atPath: folder, withDestinationPath: aside)
                }
            }

            func undo(on folder: String, aside: String) throws {
                let files = FileManager.default
                switch self {
                case .moved, .replaced, .becameFile, .linked:
                    if self != .moved { try files.removeItem(atPath: folder) }
                    try files.moveItem(atPath: aside, toPath: folder)
                case .deleted: try files.createDirectory(atPath: folder, withIntermediateDirectories: false)
                case .madeAgain: break
                }
            }
        }

        @Test("If the folder changes during the download, the file is right or the status is 3")
        func underway() async throws {
            try await eachCell(withConnections(Fate.allCases, short: 4)) { try await underway($0, connections: $1) }
        }

        private func underway(_ fate: Fate, connections: Int) async throws {
            try await withDlm(serving: LocalTrial.reply(connections: connections)) { sandbox, server in
                let trial = LocalTrial(fate.rawValue, moment: .middle, connections: connections, sandbox, server)
                let aside = sandbox.root("home/aside")
                let process = try await trial.start()
                try fate.apply(to: sandbox.files, aside: aside)
                server.releaseEnds()
                let result = try await process.result()
                if fate == .linked {
                    #expect(result.ending == .exited(0), "\(result.stderr)")
                } else {
                    #expect(result.ending == .exited(3), "\(result.stderr)")
                    #expect(result.stdout == "")
                }
                try fate.undo(on: sandbox.files, aside: aside)
                try trial.judge(result, errors: [3])
                if result.ending != .exited(0) { try await trial.expectRecovery() }
            }
        }

        @Test("If the folder changes while the download is paused, the file is right or the status is 3")
        func paused() async throws {
            try await eachCell(Fate.allCases) { try await paused($0) }
        }

        private func paused(_ fate: Fate) async throws {
            try await withDlm(serving: LocalTrial.reply(connections: 1)) { sandbox, server in
                let trial = LocalTrial(fate.rawValue, moment: .resume, sandbox, server)
                try await trial.interrupt()
                let aside = sandbox.root("home/aside")
                try fate.apply(to: sandbox.files, aside: aside)
                // The command is started in `/`, because the fault may have removed its usual working folder.
                let result = try await sandbox.run("resume", "1") { $0.folder = "/" }
                if [.moved, .deleted, .replaced, .madeAgain].contains(fate) {
                    // The partial file is gone, and the folder or its parent is on the same disk as before, so no
                    // missing mount explains the loss. The download starts over, and dlm reports this.
                    #expect(
                        result.stderr.contains("start over") || result.stderr.contains("starts over"),
                        "\(fate) \(result.stderr)")
                    if fate == .replaced || fate == .moved { try FileManager.default.removeItem(atPath: aside) }
                    try trial.judge(result, errors: [])
                    return
                }
                if fate != .linked { #expect(result.ending == .exited(3), "\(result.stderr)") }
                try fate.undo(on: sandbox.files, aside: aside)
                try trial.judge(result, errors: [3])
                if result.ending != .exited(0) { try await trial.expectRecovery() }
            }
        }

        static let modes: [(folder: String, moment: FaultTrial.Moment)] = [
            ("files", .middle), ("state/dlm", .fresh), ("files", .fresh), ("state", .fresh), ("state", .middle),
            ("state/dlm", .middle), ("state/dlm/sessions", .fresh),
        ]

        @Test("If a folder is not writable, the file is right, or the error names the missing permission")
        func readOnly() async throws {
            try await eachCell(Self.modes) { try await readOnly($0.folder, moment: $0.moment) }
        }

        private func readOnly(_ folder: String, moment: FaultTrial.Moment) async throws {
            try await withDlm(serving: LocalTrial.reply(connections: 1)) { sandbox, server in
                let trial = LocalTrial("\(folder) not writable", moment: moment, sandbox, server)
                let path = sandbox.root(folder)
                if moment == .fresh, folder != "files" { #expect(try await sandbox.list().isEmpty) }
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
                let process: ChildProcess
                if moment == .fresh {
                    #expect(chmod(path, 0o555) == 0)
                    process = try ChildProcess(try trial.launch(through: Through.withoutPrivileges))
                } else {
                    process = try await trial.start(through: Through.withoutPrivileges)
                    #expect(chmod(path, 0o555) == 0)
                    server.releaseEnds()
                }
                let result = try await process.result()
                try trial.judge(result, errors: folder == "files" ? [3] : [12])
                if result.ending != .exited(0) {
                    let why = result.stderr.lowercased()
                    #expect(why.contains("permission denied") || why.contains("readonly"), "\(result.stderr)")
                }
                #expect(chmod(path, 0o755) == 0)
                if result.ending != .exited(0) { try await trial.expectRecovery() }
            }
        }

        @Test(
            "If the file system is mounted read-only, the status is 3 or 12",
            .enabled(if: SmallDisk.canMount, "needs root to mount"),
            arguments: FaultTrial.short(["files", "state"], each: 2))
        func readOnlyMount(folder: String) async throws {
            try await withDlm(serving: LocalTrial.reply(connections: 1)) { sandbox, server in
                let trial = LocalTrial("\(folder) on a read-only file system", sandbox, server)
                let path = sandbox.root(folder)
                try #require(SmallDisk.mount(kibibytes: 32 << 10, at: path) == 0)
                defer { umount2(path, Int32(MNT_DETACH)) }
                try #require(SmallDisk.mount(kibibytes: 32 << 10, at: path, flags: MS_REMOUNT | MS_RDONLY) == 0)
                let result = try await trial.run()
                try trial.judge(result, errors: folder == "files" ? [3] : [12])
                try #require(SmallDisk.mount(kibibytes: 32 << 10, at: path, flags: MS_REMOUNT) == 0)
                try await trial.expectRecovery()
            }
        }

        @Test(
            "The state folder is deleted during the download: an error or the right file",
            arguments: FaultTrial.short([4, 1], each: 2))
        func stateDeleted(connections: Int) async throws {
            try await withDlm(serving: LocalTrial.reply(connections: connections)) { sandbox, server in
                let trial = LocalTrial(
                    "the state folder is deleted", moment: .middle, connections: connections, sandbox, server)
                let process = try await trial.start()
                try FileManager.default.removeItem(atPath: sandbox.state + "/dlm")
                server.releaseEnds()
                let result = try await process.result()
                try trial.judge(result, errors: [3, 12])
                if result.ending == .exited(0) { return }
                // No store knows the partial file any more, so it is treated as the file of another program.
                let again = try await trial.run()
                expectFailure(3, of: again)
                try FileManager.default.removeItem(atPath: sandbox.file("file.bin.part"))
                try await trial.expectRecovery()
            }
        }
    }
}
