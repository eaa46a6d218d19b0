import DownloadKit
import Foundation

/// What the display shows at a moment.
struct ProgressFrame: Equatable {
    struct Row: Equatable {
        var id: DownloadID
        var name: String
        var state = DownloadState.Kind.running
        var received: Int64
        /// Nil while unknown.
        var total: Int64?
        /// Bytes per second.
        var speed: Double?
        /// Seconds.
        var left: Double?
        /// Seconds, of one that is complete.
        var took: Double?
        /// In place of speed and time: `verifying`, `retry in 4 s: ...`.
        var note: String?

        /// What it waits for in a word, and until when, where that is known.
        var waitingFor: String?
        var waitingUntil: Date?

        /// It is at work, or will be again without anybody doing anything.
        var isActive: Bool { state == .running || state == .waiting }
        var time: String? { left.map(Units.left) ?? took.map(Units.duration) }
    }

    struct Total: Equatable {
        var downloads: Int
        var done: Int
        var failed: Int
        /// Cancelled ones, which are not counted among the failed.
        var cancelled = 0
        var received: Int64
        /// Nil while the size of one is unknown.
        var bytes: Int64?
        var speed: Double?
        /// Seconds.
        var left: Double?

        var label: String { downloads == 1 ? "1 download" : "\(downloads) downloads" }
        var counts: String { "\(done) done" + failures }
        /// Label and counts where there is little room.
        var inShort: String { "\(done)/\(downloads) done" + failures }
        private var failures: String {
            (failed > 0 ? ", \(failed) failed" : "") + (cancelled > 0 ? ", \(cancelled) cancelled" : "")
        }
        var time: String? { left.map(Units.left) }
    }

    /// Those at work first.
    var rows: [Row]
    /// The last ones that failed, the newest first: shown where there is no room for all rows.
    var failures: [Row] = []
    /// More that have no row: their turn comes later.
    var queued = 0
    /// When there are several downloads.
    var total: Total?
}
