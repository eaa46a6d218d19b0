import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Faults of the partial file", .serialized, .timeLimit(.minutes(3)))
    struct LocalPartialFaultTests {
        /// What another program does to the partial file.
        enum Deed: String, CaseIterable {
            case truncated = "partial file truncated"
            case emptied = "partial file emptied"
            case overwritten = "partial file overwritten in place"
            case deleted = "partial file deleted"
            case folder = "partial file replaced by a folder"
            case link = "partial file moved, a link to it in its place"
            case foreignLink = "partial file replaced by a link to another file"
            case fifo = "partial file replaced by a fifo"
            case copied = "partial file replaced by a copy"
            case hardLinked = "partial file linked a second time"
            case grown = "partial file made longer"
            case locked = "partial file made unreadable"

            /// Whether the file is still the same and still has the fetched bytes.
            var isHarmless: Bool { self == .hardLinked || self == .grown || self == .locked }

            func apply(to path: String, aside: String) throws {
                let files = FileManager.default
                switch self {
                case .truncated: #expect(truncate(path, off_t(mebibyte / 2)) == 0)
                case .emptied: #expect(truncate(path, 0) == 0)
                case .overwritten:
                    // The whole file is overwritten, because dlm has already computed the digest of the bytes before
                    // the first gap, and does not read these bytes again for it.
                    let size = LocalTrial.content.size
                    try overwrite(path, with: Content(seed: 601, size: size).bytes(0..<size))
                case .deleted: try files.removeItem(atPath: path)
                case .folder:
                    try files.removeItem(atPath: path)
                    try files.createDirectory(atPath: path, withIntermediateDirectories: false)
                case .link:
                    try files.moveItem(atPath: path, toPath: aside)
                    try files.createSymbolicLink(atPath: path, withDestinationPath: aside)
                case .foreignLink:
                    try files.removeItem(atPath: path)
                    try Data("theirs".utf8).write(to: URL(fileURLWithPath: aside))
                    try files.createSymbolicLink(atPath: path, withDestinationPath: aside)
                case .fifo:
                    try files.removeItem(atPath: path)
                    #expect(mkfifo(path, 0o600) == 0)
                case .copied:
                    try files.copyItem(atPath: path, toPath: aside)
                    #expect(rename(aside, path) == 0)
                case .hardLinked: #expect(Glibc.link(path, aside) == 0)
                case .grown: #expect(truncate(path, off_t(20 * mebibyte)) == 0)
                case .locked: #expect(chmod(path, 0) == 0)
                }
            }

            /// Removes the obstacle, as the error suggests, so that the download can start over.
            func clear(_ path: String, aside: String) {
                _ = try? FileManager.default.removeItem(atPath: path)
                _ = try? FileManager.default.removeItem(atPath: aside)
            }
        }

        /// Returns a path in the download folder, where ``FaultTrial`` reports no stray files.
        private func aside(_ sandbox: DlmSandbox) -> String { sandbox.root("files/aside") }

        @Test("If another program changes the partial file during the download, the file is right or there is an error")
        func underway() async throws {
            try await eachCell(withConnections(Deed.allCases, short: 4)) { try await underway($0, connections: $1) }
        }

        private func underway(_ deed: Deed, connections: Int) async throws {
            try await withDlm(serving: LocalTrial.reply(connections: connections)) { sandbox, server in
                let trial = LocalTrial(deed.rawValue, moment: .middle, connections: connections, sandbox, server)
                // With one connection, only a checksum can show this change.
                let checksum =
                    deed == .overwritten ? ["--checksum", "sha256:\(LocalTrial.content.sha256)"] : []
                let process = try await trial.start(checksum)
                try deed.apply(to: sandbox.file("file.bin.part"), aside: aside(sandbox))
                server.releaseEnds()
                let result = try await process.result()
                try trial.judge(result, errors: deed.isHarmless ? [] : deed == .overwritten ? [9] : [3])
                // With several connections, the overlap checks may find the change. Then dlm fetches the file anew, and
                // the file is right.
                if deed == .overwritten, connections == 1 {
                    #expect(result.ending == .exited(9), "\(trial.trial) \(result.stderr)")
                }
                try expectForeignUntouched(deed, sandbox)
                try await recover(trial, deed, after: result, checksum)
            }
        }

        @Test(
            "If another program changes the partial file of a paused download, the file is right or there is an error")
        func paused() async throws {
            try await eachCell(withConnections(Deed.allCases, short: 1)) { try await paused($0, connections: $1) }
        }

        private func paused(_ deed: Deed, connections: Int) async throws {
            try await withDlm(serving: LocalTrial.reply(connections: connections)) { sandbox, server in
                let trial = LocalTrial(deed.rawValue, moment: .resume, connections: connections, sandbox, server)
                try await trial.interrupt()
                try deed.apply(to: sandbox.file("file.bin.part"), aside: aside(sandbox))
                let result = try await sandbox.run(through: Through.withoutPrivileges, "resume", "1")
                try trial.judge(result, errors: deed == .hardLinked ? [] : [3])
                try expectForeignUntouched(deed, sandbox)
                try await recover(trial, deed, after: result, [])
            }
        }

        private func expectForeignUntouched(_ deed: Deed, _ sandbox: DlmSandbox) throws {
            guard deed == .foreignLink else { return }
            #expect(try sandbox.root.read("files/aside") == "theirs")
        }

        private func recover(
            _ trial: LocalTrial, _ deed: Deed, after result: ChildProcess.Result, _ arguments: [String]
        ) async throws {
            if result.ending == .exited(0) { return }
            deed.clear(trial.sandbox.file("file.bin.part"), aside: aside(trial.sandbox))
            try await trial.expectRecovery(arguments)
        }
    }
}
