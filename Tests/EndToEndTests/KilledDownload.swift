import DownloadTestSupport
import Foundation
import Testing

extension DlmSandbox {
    /// Begins the first download of this home, slowly, and kills it once so many bytes of it are recorded. How many there are.
    @discardableResult
    func kill(_ words: [String], after bytes: Int64, sourceLocation: SourceLocation = #_sourceLocation) async throws
        -> Int64
    {
        try await kill(
            try launch(["get", "--limit-rate", "2M"] + words), after: bytes, sourceLocation: sourceLocation)
    }

    /// Runs the first download of this home, which stops itself after each checkpoint: however long this test takes to look,
    /// the download does not come to its end meanwhile. Kills it once so many bytes are recorded.
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
