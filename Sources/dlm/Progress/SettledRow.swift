import DownloadKit
import Foundation

extension ProgressFrame.Row {
    /// Creates the last row of a complete download, with its speed or with a note such as `sha256 verified`.
    init?(settled ended: EndedDownload) {
        let record = ended.snapshot.record
        guard record.state == .completed, let file = record.completed else { return nil }
        self.init(
            id: record.id, name: record.displayName, state: .completed, received: file.bytes, total: file.bytes)
        if ended.wasComplete {
            note = "complete already"
        } else if let checksum = file.checksum {
            note = "\(checksum.algorithm.rawValue) verified"
        } else if file.wasCurrent {
            note = "is current"
        } else if let attempt = record.attempts.last {
            let seconds = (attempt.ended ?? record.updated).timeIntervalSince(attempt.started)
            // A speed that was measured over a shorter time would be meaningless.
            guard seconds >= 0.1 else { return }
            took = seconds
            speed = Double(attempt.received) / seconds
        }
    }
}
