import DownloadKit
import Foundation

extension ProgressFrame.Row {
    /// The line of a download that is complete: how fast it came, or what was verified. Nil for others.
    /// - Parameter wasComplete: it was so before this command.
    init?(settled record: DownloadRecord, wasComplete: Bool = false) {
        guard record.state == .completed, let file = record.completed else { return nil }
        self.init(
            id: record.id, name: record.displayName, state: .completed, received: file.bytes, total: file.bytes)
        if wasComplete {
            note = "complete already"
        } else if let checksum = file.checksum {
            note = "\(checksum.algorithm.rawValue) verified"
        } else if file.wasCurrent {
            note = "is current"
        } else if let attempt = record.attempts.last {
            let seconds = (attempt.ended ?? record.updated).timeIntervalSince(attempt.started)
            // A speed over less is a number without meaning.
            guard seconds >= 0.1 else { return }
            took = seconds
            speed = Double(attempt.received) / seconds
        }
    }
}
