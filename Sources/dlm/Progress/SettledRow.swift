import DownloadKit
import Foundation

extension ProgressFrame.Row {
    /// A download that is complete; nil for others.
    init?(settled record: DownloadRecord) {
        guard let file = record.completed else { return nil }
        self.init(
            name: record.displayName, state: .complete, received: file.bytes, total: file.bytes)
        if let checksum = file.checksum {
            note = "\(checksum.algorithm.rawValue) verified"
        } else if file.wasCurrent {
            note = "is current"
        } else if let attempt = record.attempts.last, let ended = attempt.ended {
            let seconds = ended.timeIntervalSince(attempt.started)
            guard seconds > 0 else { return }
            took = seconds
            speed = Double(attempt.received) / seconds
        }
    }
}
