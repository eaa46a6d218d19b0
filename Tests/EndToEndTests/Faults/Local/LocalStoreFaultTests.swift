import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Faults of the store", .serialized, .timeLimit(.minutes(3)))
    struct LocalStoreFaultTests {
        /// Damage to a store that has a paused download. `get` replaces such a store.
        enum Damage: String, CaseIterable {
            case garbage = "store begins with random bytes"
            case page = "three pages of the store overwritten"
            case middle = "random bytes in the middle of the store"
            case truncated = "store truncated to half"
            case emptied = "store emptied"
            case text = "store is a text file"
            case unreadable = "store has no permissions"
            case unwritable = "store is read-only"
            case gone = "store and its folder deleted"

            func apply(to store: String) throws {
                let size = try FileManager.default.attributesOfItem(atPath: store)[.size] as? UInt64 ?? 0
                switch self {
                case .garbage: try overwrite(store, with: LocalStoreFaultTests.noise(3000))
                case .page: try overwrite(store, at: 4096, with: LocalStoreFaultTests.noise(3 * 4096))
                case .middle: try overwrite(store, at: size / 2, with: LocalStoreFaultTests.noise(3000))
                case .truncated: #expect(truncate(store, off_t(size / 2)) == 0)
                case .emptied: #expect(truncate(store, 0) == 0)
                case .text: try Data("not a database\n".utf8).write(to: URL(fileURLWithPath: store))
                case .unreadable: #expect(chmod(store, 0) == 0)
                case .unwritable: #expect(chmod(store, 0o400) == 0)
                case .gone:
                    try FileManager.default.removeItem(atPath: (store as NSString).deletingLastPathComponent)
                }
            }

            /// Whether the damaged store is kept under another name.
            var isMovedAside: Bool { [.garbage, .truncated, .text].contains(self) }
        }

        @Test("A damaged store is replaced: the file is right, and nothing durable is fetched again")
        func damaged() async throws {
            try await eachCell(Damage.allCases) { try await damaged($0) }
        }

        private func damaged(_ damage: Damage) async throws {
            try await withDlm(serving: LocalTrial.reply(connections: 4)) { sandbox, server in
                let trial = LocalTrial(damage.rawValue, moment: .resume, connections: 4, sandbox, server)
                try await trial.interrupt()
                let received = try await sandbox.show(1).received
                #expect(!sandbox.root.exists("state/dlm/downloads.sqlite-wal"))
                try damage.apply(to: sandbox.state + "/dlm/downloads.sqlite")
                server.change(to: LocalTrial.content, etag: "\"v1\"")
                let result = try await ChildProcess(
                    try sandbox.launch(through: Through.withoutPrivileges, ["get", server.url()])
                ).result()
                try expectDownloaded(LocalTrial.content, as: "file.bin", by: result, in: sandbox, trial.trial)
                // One byte of a file is always asked for again, and bytes at the joins are compared.
                let listed = try await sandbox.list()
                #expect(listed.count == 1, "\(damage)")
                let fetched = try #require(try await sandbox.show(listed[0].id).attempts.last?.received)
                #expect(
                    (1...LocalTrial.content.size - received + mebibyte / 2).contains(fetched),
                    "\(damage) \(received) \(fetched)")
                let kept = try FileManager.default.contentsOfDirectory(atPath: sandbox.state + "/dlm")
                    .filter { $0.contains(".damaged-") }
                if damage.isMovedAside {
                    #expect(result.errorLines.count { $0.contains("the store was damaged") } == 1, "\(result.stderr)")
                    #expect(kept.contains { $0.hasSuffix(".txt") }, "\(damage) \(kept)")
                    #expect(try await sandbox.perform("doctor").stdout.contains("the store was damaged"))
                }
            }
        }

        @Test("Without its store, a partial file of another URL is left alone: status 3")
        func otherURL() async throws {
            try await withDlm(serving: LocalTrial.reply(connections: 1)) { sandbox, server in
                let trial = LocalTrial("store deleted, other URL", moment: .resume, sandbox, server)
                try await trial.interrupt()
                try Damage.gone.apply(to: sandbox.state + "/dlm/downloads.sqlite")
                let before = try sha256(of: sandbox.files + "/file.bin.part")
                let result = try await sandbox.perform("get", server.url() + "?other")
                #expect(result.ending == .exited(3), "\(result.stderr)")
                #expect(try sha256(of: sandbox.files + "/file.bin.part") == before)
                try await trial.expectRecovery()
            }
        }

        @Test("A damaged store that another process uses is left alone: status 12")
        func damagedInUse() async throws {
            try await withDlm(serving: LocalTrial.reply(connections: 1)) { sandbox, server in
                let trial = LocalTrial("damaged store in use", sandbox, server)
                #expect(try await sandbox.list().isEmpty)
                let store = sandbox.state + "/dlm/downloads.sqlite"
                try Damage.garbage.apply(to: store)
                let use = try StoreUse(store)
                let result = try await trial.run()
                try trial.judge(result, errors: [12])
                #expect(result.stderr.contains("once no other session uses it"), "\(result.stderr)")
                use.end()
                try await trial.expectRecovery()
            }
        }

        /// Something that is no store of this program in the place of the store.
        enum Obstacle: String, CaseIterable {
            case newer = "store of a newer version"
            case foreign = "store of another program"
            case folder = "store is a folder"
            case fifo = "store is a fifo"
            case device = "store is a device"
            case danglingLink = "store is a dangling link"
            case stateIsFile = "the state folder is a file"
            case sessionsIsFile = "sessions is a file"

            func apply(in folder: String) throws {
                let files = FileManager.default
                let store = folder + "/downloads.sqlite"
                let kept = store + ".kept"
                switch self {
                case .newer, .foreign:
                    try files.copyItem(atPath: store, toPath: kept)
                case .folder, .fifo, .device, .danglingLink: try files.moveItem(atPath: store, toPath: kept)
                case .stateIsFile: try files.moveItem(atPath: folder, toPath: folder + ".kept")
                case .sessionsIsFile: try files.removeItem(atPath: folder + "/sessions")
                }
                switch self {
                // The header has the `user_version` at offset 60 and the `application_id` at offset 68
                // (sqlite.org/fileformat.html).
                case .newer: try overwrite(store, at: 60, with: [0, 0, 0, 99])
                case .foreign: try overwrite(store, at: 68, with: [1, 2, 3, 4])
                case .folder: try files.createDirectory(atPath: store, withIntermediateDirectories: false)
                case .fifo: #expect(mkfifo(store, 0o644) == 0)
                // A device file with the numbers of the null device.
                case .device: #expect(mknod(store, S_IFCHR | 0o666, 1 << 8 | 3) == 0)
                case .danglingLink: try files.createSymbolicLink(atPath: store, withDestinationPath: "/nonexistent/x")
                case .stateIsFile: try Data("x".utf8).write(to: URL(fileURLWithPath: folder))
                case .sessionsIsFile: try Data("x".utf8).write(to: URL(fileURLWithPath: folder + "/sessions"))
                }
            }

            func undo(in folder: String) throws {
                let files = FileManager.default
                let store = folder + "/downloads.sqlite"
                switch self {
                case .stateIsFile:
                    try files.removeItem(atPath: folder)
                    try files.moveItem(atPath: folder + ".kept", toPath: folder)
                case .sessionsIsFile: try files.removeItem(atPath: folder + "/sessions")
                default:
                    try files.removeItem(atPath: store)
                    try files.moveItem(atPath: store + ".kept", toPath: store)
                }
            }
        }

        /// Returns the type, mode and bytes of the file at this path, to check that it was not changed.
        private func fingerprint(_ path: String) throws -> String {
            var information = stat()
            guard lstat(path, &information) == 0 else { return "nothing" }
            let bytes = information.st_mode & S_IFMT == S_IFREG ? try sha256(of: path) : ""
            return "\(information.st_mode) \(bytes)"
        }

        @Test("An obstacle in the place of the store: status 12, and it is not changed; later the download continues")
        func obstacle() async throws {
            try await eachCell(Obstacle.allCases.filter { $0 != .device || geteuid() == 0 }) { try await obstacle($0) }
        }

        private func obstacle(_ damage: Obstacle) async throws {
            try await withDlm(serving: LocalTrial.reply(connections: 1)) { sandbox, server in
                let trial = LocalTrial(damage.rawValue, moment: .resume, sandbox, server)
                try await trial.interrupt()
                let folder = sandbox.state + "/dlm"
                // The last process that closes the store copies the write-ahead log into the store.
                #expect(try await sandbox.list().count == 1)
                #expect(!sandbox.root.exists("state/dlm/downloads.sqlite-wal"))
                try damage.apply(in: folder)
                let before = try fingerprint(folder + "/downloads.sqlite")
                for words in [["get", server.url()], ["resume", "1"]] {
                    let result = try await sandbox.run(through: Through.withoutPrivileges, words)
                    try trial.judge(result, errors: [12])
                    #expect(result.ending == .exited(12), "\(damage) \(result)")
                    #expect(result.errorLines.count == 1, "\(damage) \(result.stderr)")
                }
                if damage != .sessionsIsFile {
                    #expect(try fingerprint(folder + "/downloads.sqlite") == before, "\(damage)")
                }
                try damage.undo(in: folder)
                try await trial.expectRecovery(atMost: LocalTrial.content.size - mebibyte / 2)
            }
        }

        private static func noise(_ count: Int64) -> [UInt8] { Content(seed: 602, size: count).bytes(0..<count) }

        enum LogFile: String, CaseIterable { case wal, shm }

        @Test(
            "The store's log files are damaged after a kill: an error, or the right file", arguments: LogFile.allCases)
        func logDamaged(file: LogFile) async throws {
            for whole in FaultTrial.isFull ? [true, false] : [true] {
                try await withDlm(serving: LocalTrial.reply(connections: 1)) { sandbox, server in
                    let fault = "the store's \(file.rawValue) " + (whole ? "overwritten" : "damaged in the middle")
                    let trial = LocalTrial(fault, moment: .resume, sandbox, server)
                    try await trial.interrupt(by: SIGKILL)
                    let path = sandbox.state + "/dlm/downloads.sqlite-\(file.rawValue)"
                    let size = try Int64(Data(contentsOf: URL(fileURLWithPath: path)).count)
                    try overwrite(path, at: UInt64(whole ? 0 : size / 2), with: Self.noise(size / 2))
                    let result = try await trial.run()
                    try trial.judge(result, errors: [3, 12])
                }
            }
        }

        @Test(
            "A store that stays locked gives exit status 12 within its time limit, and nothing is lost",
            .enabled(if: FaultTrial.isFull))
        func lockedForEver() async throws {
            try await withDlm(serving: LocalTrial.reply(connections: 1)) { sandbox, server in
                let trial = LocalTrial("store locked for ever", sandbox, server)
                #expect(try await sandbox.list().isEmpty)
                let lock = try StoreLock(sandbox.state + "/dlm/downloads.sqlite")
                let result = try await trial.run()
                try trial.judge(result, errors: [12])
                #expect(result.stderr.contains("locked"), "\(result.stderr)")
                #expect(result.duration < promised(within: .seconds(40)))
                lock.release()
                try await trial.expectRecovery()
            }
        }

        @Test(
            "The store is locked until the end of a download: an error or the right file",
            .enabled(if: FaultTrial.isFull))
        func lockedUnderway() async throws {
            try await withDlm(serving: LocalTrial.reply(connections: 4)) { sandbox, server in
                let trial = LocalTrial("store locked underway", moment: .middle, connections: 4, sandbox, server)
                let process = try await trial.start()
                let lock = try StoreLock(sandbox.state + "/dlm/downloads.sqlite")
                server.releaseEnds()
                let result = try await process.result()
                try trial.judge(result, errors: [12])
                lock.release()
                if result.ending != .exited(0) {
                    try await trial.expectRecovery(atMost: LocalTrial.content.size - mebibyte)
                }
            }
        }

        @Test("dlm waits for a store that is locked for a while")
        func lockedForAWhile() async throws {
            try await withDlm(serving: LocalTrial.reply(connections: 1)) { sandbox, server in
                let trial = LocalTrial("store locked for a while", moment: .middle, sandbox, server)
                let process = try await trial.start()
                let lock = try StoreLock(sandbox.state + "/dlm/downloads.sqlite")
                await trial.waitForTraffic(3 * mebibyte)
                lock.release()
                server.releaseEnds()
                try trial.judge(try await process.result(), errors: [])
            }
        }
    }
}
