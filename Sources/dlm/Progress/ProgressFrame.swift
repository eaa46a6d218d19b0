import DownloadKit
import Foundation

/// The content of the progress display at one moment.
struct ProgressFrame: Equatable {
    @dynamicMemberLookup
    struct Row: Equatable {
        var progress: DownloadProgress
        var left: Double?
        /// The time that a complete download took, in seconds.
        var took: Double?
        /// The text shown instead of speed and time: `verifying`, `retry in 4 s: ...`.
        var note: String?

        init(_ progress: DownloadProgress, note: String? = nil) {
            (self.progress, left, self.note) = (progress, progress.secondsLeft, note)
        }

        subscript<Value>(dynamicMember path: KeyPath<DownloadProgress, Value>) -> Value { progress[keyPath: path] }

        var state: DownloadState.Kind { progress.state.kind }
        /// Whether the download is running, or waits and will continue without a command.
        var isActive: Bool { state == .running || state == .waiting }
        var time: String? { left.map(Units.left) ?? took.map(Units.duration) }
    }

    struct Total: Equatable {
        var downloads: Int
        var done: Int
        var failed: Int
        /// The number of cancelled downloads, which are not counted in ``failed``.
        var cancelled = 0
        var received: Int64
        var bytes: Int64?
        var speed: Double?
        var left: Double?

        var label: String { Units.count(downloads, "download") }
        var counts: String { "\(done) done" + failures }
        var inShort: String { "\(done)/\(downloads) done" + failures }
        private var failures: String {
            (failed > 0 ? ", \(failed) failed" : "") + (cancelled > 0 ? ", \(cancelled) cancelled" : "")
        }
        var time: String? { left.map(Units.left) }
    }

    /// The rows of the downloads. Running downloads come first.
    var rows: [Row]
    /// The rows of the latest failed downloads, newest first, shown only if some downloads have no visible row.
    var failures: [Row] = []
    /// The number of further downloads that are queued and have no row.
    var queued = 0
    var total: Total?
}

extension ProgressFrame.Row {
    /// Creates the last row of a complete download, with its speed or with a note such as `sha256 verified`.
    init?(settled ended: EndedDownload) {
        let record = ended.snapshot.record
        guard record.state == .completed, let file = record.completed else { return nil }
        self.init(ended.snapshot.progress)
        if ended.wasComplete {
            note = "complete already"
        } else if let checksum = file.checksum {
            note = "\(checksum.algorithm.rawValue) verified\(ProgressText.place(of: checksum, record))"
        } else if file.wasCurrent {
            note = "is current"
        } else if let attempt = record.attempts.last {
            let seconds = (attempt.ended ?? record.updated).timeIntervalSince(attempt.started)
            // A speed that was measured over a shorter time would be meaningless.
            guard seconds >= 0.1 else { return }
            took = seconds
            progress.speed = Double(attempt.received) / seconds
        }
    }
}
