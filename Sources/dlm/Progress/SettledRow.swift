import DownloadKit
import Foundation

extension ProgressFrame.Row {
    /// The line of a download that is complete: how fast it came, or what was verified.
    init?(settled record: DownloadRecord) {
        guard let file = record.completed else { return nil }
        self.init(name: record.displayName, received: file.bytes, total: file.bytes, isActive: false)
        if let checksum = file.checksum {
            note = "\(checksum.algorithm.rawValue) verified"
        } else if file.wasCurrent {
            note = "is current"
        } else if let attempt = record.attempts.last {
            let seconds = (attempt.ended ?? record.updated).timeIntervalSince(attempt.started)
            // A speed over less is a number without meaning.
            guard seconds >= 0.1 else { return }
            time = Units.duration(seconds)
            speed = Double(attempt.received) / seconds
        }
    }
}
