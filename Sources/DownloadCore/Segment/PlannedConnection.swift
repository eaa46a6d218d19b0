/// One connection as the planner sees it: its territory is [position, end), and asked for is [position, leaseEnd).
struct PlannedConnection: Sendable {
    let id: Int
    var position: Int64
    var end: Int64
    var leaseEnd: Int64
    /// A request runs.
    var isAsked = false
    /// Its next request needs a new connection.
    var isFresh = true
    /// The connection it stands in for, and the other way round. Of several that were asked for the same, each stands in
    /// for the one before.
    var duplicates: Int?
    var duplicatedBy: Int?
    /// Where the other stood when this one began.
    var duplicatedFrom: Int64 = 0
    /// Where its request began.
    private(set) var start: Int64 = 0
    /// Another connection brings what its request was for.
    var isSuperseded = false
    var speed = SpeedEstimate()
    /// When it was last known to stand at `position`, and when bytes last came.
    private(set) var seen: Double
    private(set) var moved: Double
    /// When bytes last came that were no burst.
    private(set) var steadyMoved: Double
    private(set) var firstAnswer: Double?
    private(set) var answer: Double?

    init(id: Int, range: Range<Int64>, now: Double) {
        self.id = id
        position = range.lowerBound
        end = range.upperBound
        leaseEnd = range.lowerBound
        seen = now
        moved = now
        steadyMoved = -.infinity
    }

    /// What it has to do, in bytes.
    var left: Int64 { max(0, end - position) }
    /// Of that, what it has not asked for.
    var unasked: Int64 { max(0, end - max(position, leaseEnd)) }

    mutating func asked(until end: Int64, at now: Double) {
        speed.endAnswer()
        isAsked = true
        isSuperseded = false
        start = position
        leaseEnd = end
        answer = nil
        seen = now
        moved = now
    }

    /// The bytes before `position` are there already.
    mutating func skip(to position: Int64) {
        self.position = max(self.position, position)
        start = max(start, position)
    }

    /// It has nothing to do.
    mutating func leaveAll() { (end, leaseEnd, duplicates, duplicatedBy) = (position, position, nil, nil) }

    mutating func answered(at now: Double) {
        answer = now
        firstAnswer = firstAnswer ?? now
        seen = now
        moved = now
    }

    func isSteady(at now: Double, burst: Double) -> Bool {
        firstAnswer.map { now >= $0 + burst } ?? false
    }

    /// Returns how many bytes came that tell something about the speed.
    mutating func move(to position: Int64, at now: Double, burst: Double) -> Int64 {
        guard isAsked, answer != nil || position > self.position else { return 0 }
        let begin = answer ?? seen
        if answer == nil { answered(at: begin) }
        let count = max(0, position - self.position)
        let isBurst = seen < begin + burst
        speed.observe(count, over: now - seen, isBurst: isBurst)
        seen = now
        if count > 0 {
            self.position = position
            moved = now
            if !isBurst { steadyMoved = now }
        }
        return isBurst ? 0 : count
    }
}
