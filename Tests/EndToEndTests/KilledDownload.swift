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
    /// of recorded bytes. The process stops itself after each checkpoint, so the download cannot end while the test
    /// reads this number.
    func kill(
        _ slow: ProcessLaunch, after bytes: Int64, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Int64 {
        var launch = slow
        launch.environment["DLM_FAULT_POINT"] = "afterCheckpoint:1:stops"
        let process = try ChildProcess(launch)
        var received: Int64 = 0
        while received < bytes, await process.waitUntilStopped() {
            received = try await show(1).received
            if received < bytes { process.send(SIGCONT) }
        }
        process.send(SIGKILL)
        let result = try await process.result()
        #expect(result.ending == .signalled(SIGKILL), "\(result.stderr)", sourceLocation: sourceLocation)
        #expect(received >= bytes, "\(result.stderr)", sourceLocation: sourceLocation)
        return received
    }
}
