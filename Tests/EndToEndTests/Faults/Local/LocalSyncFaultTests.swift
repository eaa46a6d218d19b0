import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Syncs that fail and lose pages", .serialized, .timeLimit(.minutes(3)))
    struct LocalSyncFaultTests {
        private let content = Content(seed: 306, size: 8 * mebibyte)

        private func launch(_ sandbox: DlmSandbox, _ shim: SystemShim, _ words: [String]) throws -> ProcessLaunch {
            var launch = try sandbox.launch(words)
            launch.environment.merge(shim.environment()) { $1 }
            return launch
        }

        /// Runs a download whose first sync fails, and then the same command again.
        /// - Parameter interrupts: Whether the sync is the one of an interrupted download, and not the last one.
        private func run(connections: Int, interrupts: Bool) async throws {
            let shim = try SystemShim()
            defer { shim.remove() }
            let good = FaultReply(content, etag: "\"v1\"")
            try await withDlm(serving: good) { sandbox, server in
                let trial = FaultTrial(
                    area: .local, fault: "a sync fails and loses the bytes since the last one",
                    moment: interrupts ? .middle : .fresh, connections: connections)
                let words = ["get", "-x", "\(connections)", "--retries", "0", server.url()]
                try shim.failNextSync()
                if interrupts { server.holdEnds() }
                let process = try ChildProcess(try launch(sandbox, shim, words))
                if interrupts {
                    // Without bytes in the file, nothing would be synced.
                    try await sandbox.waitToRecord(4 * mebibyte)
                    process.send(SIGTERM)
                }
                let first = try await process.result()
                server.releaseEnds()
                #expect(shim.hasFailed, "\(trial)")
                #expect(first.ending == (interrupts ? .signalled(SIGTERM) : .exited(3)), "\(trial) \(first.stderr)")
                #expect(!sandbox.exists("file.bin"), "\(trial)")

                let second = try await ChildProcess(try launch(sandbox, shim, words)).result()
                try trial.judge(second, in: sandbox, right: [content], errors: [])
            }
        }

        @Test("After a failed sync, bytes that may be lost are fetched again", arguments: [1, 4], [false, true])
        func failed(connections: Int, interrupts: Bool) async throws {
            try await run(connections: connections, interrupts: interrupts)
        }
    }
}
