/// What the display shows at a moment.
struct ProgressFrame: Equatable {
    struct Row: Equatable {
        enum State: Equatable {
            case running, queued, paused, finishing, complete
            /// Why, and until when.
            case waiting(String)
        }

        var name: String
        var state: State
        var received: Int64
        var total: Int64?
        var speed: Double?
        /// In place of speed and time left.
        var note: String?
        /// Seconds, of one that is complete.
        var took: Double?

        var secondsLeft: Double? { TimeLeft.seconds(received: received, total: total, speed: speed) }
    }

    struct Total: Equatable {
        var downloads: Int
        var done: Int
        var failed: Int
        var received: Int64
        /// Nil while the size of one is unknown.
        var bytes: Int64?
        var speed: Double?

        var secondsLeft: Double? { TimeLeft.seconds(received: received, total: bytes, speed: speed) }
    }

    var rows: [Row]
    /// When there are several downloads.
    var total: Total?
}
