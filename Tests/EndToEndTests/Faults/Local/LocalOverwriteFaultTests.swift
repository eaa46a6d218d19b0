import DownloadTestSupport
import Foundation
import Testing

#if DEBUG || DLM_FAULT_POINTS
    extension EndToEnd {
        /// dlm stops at a fault point, and the test then overwrites bytes of the partial file without changing its
        /// size, as another program might.
        @Suite("A partial file that is overwritten during the download", .serialized, .timeLimit(.minutes(3)))
        struct LocalOverwriteFaultTests {
            static let content = Content(seed: 610, size: 6 * mebibyte + 5)

            static let points: [(name: String, plan: String)] = [
                ("at its start", "afterWrite:1"), ("in the middle", "afterWrite:12"),
                ("before it is hashed", "beforeChecksum:1"), ("before it is synced", "beforeSync:1"),
                ("before its finishing mark", "beforeFinishingMark:1"), ("before its last name", "beforeName:1"),
            ]

            struct Cell: Sendable {
                let point: Int
                let connections: Int
                let hasChecksum: Bool

                static let all = [1, 4].flatMap { connections in
                    [false, true].flatMap { hasChecksum in
                        LocalOverwriteFaultTests.points.indices.map {
                            Cell(point: $0, connections: connections, hasChecksum: hasChecksum)
                        }
                    }
                }

                var trial: FaultTrial {
                    FaultTrial(
                        area: .local,
                        fault:
                            "partial file overwritten in place \(points[point].name)\(hasChecksum ? ", --checksum" : "")",
                        moment: .middle, connections: connections)
                }

                var options: [String] {
                    ["-x", "\(connections)"]
                        + (hasChecksum ? ["--checksum", "sha256:\(LocalOverwriteFaultTests.content.sha256)"] : [])
                }
            }

            /// Starts a download that stops at the point of the cell, and overwrites its partial file.
            private func stoppedAndOverwritten(
                _ cell: Cell, _ arguments: [String], _ sandbox: DlmSandbox
            ) async throws -> ChildProcess {
                var launch = try sandbox.launch(arguments)
                launch.environment["DLM_FAULT_POINT"] = "\(Self.points[cell.point].plan):stop"
                let process = try ChildProcess(launch)
                try #require(await process.waitUntilStopped(), "\(cell.trial) \(process.standardError)")
                try overwrite(sandbox.file("file.bin.part"), with: Array(repeating: 0x55, count: 100_000))
                return process
            }

            @Test("Bytes of another program are never accepted as a part of the file, now or later")
            func overwritten() async throws {
                try await eachCell(FaultTrial.short(Cell.all, each: 5)) { cell in
                    try await withDlm(serving: FaultReply(Self.content, etag: "\"v1\"")) { sandbox, server in
                        let arguments = ["get"] + cell.options + [server.url()]
                        let process = try await stoppedAndOverwritten(cell, arguments, sandbox)
                        process.send(SIGCONT)
                        let result = try await process.result()
                        try cell.trial.judge(result, in: sandbox, right: [], errors: [cell.hasChecksum ? 9 : 3, 3])
                        try await expectRecovery(cell, arguments, sandbox)
                    }
                }
            }

            @Test("Bytes of another program are not accepted after an orderly stop, either")
            func stopped() async throws {
                let cells = Cell.all.filter { $0.point == 1 }
                try await eachCell(cells) { cell in
                    try await withDlm(serving: FaultReply(Self.content, etag: "\"v1\"")) { sandbox, server in
                        let arguments = ["get"] + cell.options + [server.url()]
                        let process = try await stoppedAndOverwritten(cell, arguments, sandbox)
                        process.send(SIGTERM)
                        process.send(SIGCONT)
                        let result = try await process.result()
                        #expect(result.ending != .exited(0), "\(cell.trial)")
                        try await expectRecovery(cell, arguments, sandbox)
                    }
                }
            }

            /// Expects that the same command gives a right file or an error. Once the partial file is deleted, the
            /// command gives the right file.
            private func expectRecovery(_ cell: Cell, _ arguments: [String], _ sandbox: DlmSandbox) async throws {
                let again = try await sandbox.run(arguments)
                try cell.trial.judge(again, in: sandbox, right: [Self.content], errors: [3, 9])
                if again.ending == .exited(0) { return }
                unlink(sandbox.file("file.bin.part"))
                try await sandbox.expectDownloaded(Self.content, byProcess: arguments, what: cell.trial)
            }
        }
    }
#endif
