import DownloadTestSupport
import Foundation
import Testing

extension DlmSandbox {
    /// Starts the first download of this home folder slowly, and kills it when this number of bytes is present. Returns
    /// the number of present bytes.
    @discardableResult
    func kill(_ words: [String], after bytes: Int64, sourceLocation: SourceLocation = #_sourceLocation) async throws
        -> Int64
    {
        let process = try ChildProcess(try launch(["get", "--limit-rate", "2M"] + words))
        _ = try await ask(atMost: .seconds(20)) {
            try await list()
        } until: {
            !$0.isEmpty
        }
        let shown = try await waitToShow(1, sourceLocation: sourceLocation) { $0.received >= bytes }
        process.send(SIGKILL)
        let result = try await process.result()
        #expect(result.ending == .signalled(SIGKILL), "\(result.stderr)", sourceLocation: sourceLocation)
        return shown.received
    }
}
