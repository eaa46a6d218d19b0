extension SegmentWriter {
    /// Why this sink ended the transfer itself.
    package enum Refusal: Sendable, Equatable {
        case verdict
        case tooLong
        /// More than the user takes, where nobody had said how much it is.
        case tooLarge
        /// What it was to bring is here; see ``SegmentWriter/shorten(to:)``.
        case cut
        /// It failed, or what it has differs from what came.
        case fileRefused
    }

    /// What its threads share.
    struct State {
        var head: ResponseHead?
        var verdict: ResponseJudge.Verdict?
        var refusal: Refusal?
        var file: (any SegmentTarget)?
        /// Where the next byte goes.
        var position: Int64
        var end: Int64?
        /// The runner waits for its next bytes.
        var tellsMove = false
        /// Less was wanted after it was asked for.
        var cut: Int64?
        var begun = ContinuousClock.now
        var answered: ContinuousClock.Instant?
        /// The head has come, and nothing of the body.
        var awaitsFirstByte = false
        /// The bytes before it are here already and do not count as received.
        var countedFrom: Int64
        var buffer: PoolBuffer?
        var filled = 0
        var isAnnounced = false
        var isFinished = false
        var waitsForFile = false
        /// The offset from which the buffer is to go to the disk as it is (see ``handOver(from:)``).
        var handOver: Int64?

        /// The answer begins with its body: some servers send the head at once and look for the file afterwards.
        mutating func firstByteCame() {
            if awaitsFirstByte { answered = .now }
            awaitsFirstByte = false
        }
    }

    /// Nothing else is locked while this is.
    struct Wake {
        var transfer: (any Transfer)?
        /// Woken, or cancelled, before the transfer was known.
        var owesResume = false
        var owesCancel = false
        var isFinished = false
    }
}
