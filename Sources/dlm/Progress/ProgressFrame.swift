import DownloadKit
import Foundation

/// The content of the progress display at one moment.
struct ProgressFrame: Equatable {
    struct Row: Equatable {
        var id: DownloadID
        var name: String
        var state = DownloadState.Kind.running
        var received: Int64
        var total: Int64?
        var speed: Double?
        var left: Double?
        /// The time that a complete download took, in seconds.
        var took: Double?
        /// The text shown instead of speed and time: `verifying`, `retry in 4 s: ...`.
        var note: String?

        /// What the download waits for, in one word. ``waitingUntil`` is the end of the wait, if it is known.
        var waitingFor: String?
        var waitingUntil: Date?

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
    init(_ progress: DownloadProgress) {
        self.init(
            id: progress.id, name: progress.name, state: progress.state.kind, received: progress.received,
            total: progress.total, speed: progress.speed, left: progress.secondsLeft)
    }
}
