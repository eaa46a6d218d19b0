/// What the display shows at a moment.
struct ProgressFrame: Equatable {
    struct Row: Equatable {
        var name: String
        var received: Int64
        /// Nil while unknown.
        var total: Int64?
        /// Bytes per second.
        var speed: Double?
        /// Time left, or taken.
        var time: String?
        /// In place of speed and time: `verifying`, `retry in 4 s: ...`.
        var note: String?
        /// It is at work, or will be again without anybody doing anything.
        var isActive = true
    }

    struct Total: Equatable {
        var downloads: Int
        var done: Int
        var failed: Int
        var received: Int64
        /// Nil while the size of one is unknown.
        var bytes: Int64?
        var speed: Double?

        var label: String { downloads == 1 ? "1 download" : "\(downloads) downloads" }
        var counts: String { "\(done) done" + (failed > 0 ? ", \(failed) failed" : "") }
        var time: String? { TimeLeft.seconds(received: received, total: bytes, speed: speed).map(Units.left) }
    }

    var rows: [Row]
    /// When there are several downloads.
    var total: Total?
}
