/// The times and the speed of a connection's requests, in seconds of the planner's time. A burst is the start of an
/// answer, whose bytes say nothing about the speed.
struct ConnectionPace: Sendable {
    private(set) var speed = SpeedEstimate()
    /// The time at which the connection was last known to be at its position.
    private(set) var seen: Double
    /// The time at which bytes last came.
    private(set) var moved: Double
    /// The time at which bytes last came that were not part of a burst.
    private(set) var steadyMoved = -Double.infinity
    private(set) var firstAnswer: Double?
    /// The time at which the first byte of the running request came.
    private(set) var answer: Double?

    init(now: Double) { (seen, moved) = (now, now) }

    mutating func asked(at now: Double) {
        speed.endAnswer()
        answer = nil
        (seen, moved) = (now, now)
    }

    mutating func answered(at now: Double) {
        answer = now
        firstAnswer = firstAnswer ?? now
        (seen, moved) = (now, now)
    }

    /// Returns whether the first answer began longer ago than a burst lasts.
    func isSteady(at now: Double, burst: Double) -> Bool { firstAnswer.map { now >= $0 + burst } ?? false }

    /// Records the number of bytes that have come since the last observation. Returns whether they belong to a burst,
    /// and the seconds since the last observation.
    mutating func observe(_ count: Int64, at now: Double, burst: Double) -> (isBurst: Bool, time: Double) {
        let begin = answer ?? seen
        if answer == nil { answered(at: begin) }
        let isBurst = seen < begin + burst
        let time = now - seen
        speed.observe(count, over: time, isBurst: isBurst)
        seen = now
        if count > 0 {
            moved = now
            if !isBurst { steadyMoved = now }
        }
        return (isBurst, time)
    }
}
