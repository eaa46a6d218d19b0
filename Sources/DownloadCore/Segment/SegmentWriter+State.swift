/// What a segment writer's threads share.
extension SegmentWriter {
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
        /// The bytes before it are here already and do not count as received.
        var countedFrom: Int64
        var buffer: PoolBuffer?
        var filled = 0
        var isAnnounced = false
        var isFinished = false
        var waitsForFile = false
        /// The offset from which the buffer is to go to the disk as it is (see ``handOver(from:)``).
        var handOver: Int64?
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
