import DownloadKit
import Foundation

/// What stands behind the bar of a complete download.
enum SettledText {
    static func note(_ record: DownloadRecord) -> String {
        guard let file = record.completed else { return "" }
        if let checksum = file.checksum { return "\(checksum.algorithm.rawValue) verified" }
        if file.wasCurrent { return "is current" }
        guard let attempt = record.attempts.last, let ended = attempt.ended else { return "" }
        let seconds = ended.timeIntervalSince(attempt.started)
        guard seconds > 0 else { return "" }
        return "\(Units.rate(Double(attempt.received) / seconds))  \(Units.time(seconds))"
    }
}
