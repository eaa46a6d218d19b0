import DownloadTestSupport
import Foundation
import Testing

extension DlmSandbox {
    /// Starts the first download of this home at a limited rate, and kills it once this many of its bytes are recorded.
    /// Returns the number of recorded bytes.
    @discardableResult
    func kill(_ words: [String], after bytes: Int64, sourceLocation: SourceLocation = #_sourceLocation) async throws
        -> Int64
    {
        try await kill(
            try launch(["get", "--limit-rate", "2M"] + words), after: bytes, sourceLocation: sourceLocation)
    }

    /// Runs the first download of this home, and kills it once this many of its bytes are recorded. Returns the number
    /// of recorded bytes.
    func kill(
        _ slow: ProcessLaunch, after bytes: Int64, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Int64 {
        var launch = slow
        if Self.hasFaultPoints { launch.environment["DLM_FAULT_POINT"] = "afterCheckpoint:1:stops" }
        let process = try ChildProcess(launch)
        let received =
            Self.hasFaultPoints
            ? try await received(by: process, atLeast: bytes) : try await receivedWhileItRuns(atLeast: bytes)
        let result = try await process.expectEnd(by: SIGKILL, sourceLocation: sourceLocation)
        #expect(received >= bytes, "\(result.stderr)", sourceLocation: sourceLocation)
        return received
    }

    /// The process stops itself after each checkpoint, so the download cannot end while the test reads the number of
    /// recorded bytes.
    private func received(by process: ChildProcess, atLeast bytes: Int64) async throws -> Int64 {
        var received: Int64 = 0
        while received < bytes, await process.waitUntilStopped() {
            received = try await show(1).received
            if received < bytes { process.send(SIGCONT) }
        }
        return received
    }

    /// The released program does not stop itself. The test must be faster than the slow download.
    private func receivedWhileItRuns(atLeast bytes: Int64) async throws -> Int64 {
        _ = try await ask(atMost: .seconds(20)) {
            try await list()
        } until: {
            !$0.isEmpty
        }
        return try await waitToShow(1) { $0.received >= bytes }.received
    }
}
