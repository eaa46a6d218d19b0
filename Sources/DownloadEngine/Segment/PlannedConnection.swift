/// One connection as the planner sees it. Its territory is [position, end), and its running request is for [position,
/// leaseEnd).
struct PlannedConnection: Sendable {
    let id: Int
    var position: Int64
    var end: Int64
    var leaseEnd: Int64
    /// Whether a request is running.
    var isAsked = false
    /// Whether the next request must open a new network connection.
    var isFresh = true
    /// The connection that this one duplicates, and the connection that duplicates this one. If several connections
    /// have requested the same range, each duplicates the one before.
    var duplicates: Int?
    var duplicatedBy: Int?
    /// The position of the duplicated connection when this connection began.
    var duplicatedFrom: Int64 = 0
    /// The offset at which the request began.
    private(set) var start: Int64 = 0
    /// Whether another connection brings the bytes of this request.
    var isSuperseded = false
    private(set) var pace: ConnectionPace

    init(id: Int, range: Range<Int64>, now: Double) {
        self.id = id
        position = range.lowerBound
        end = range.upperBound
        leaseEnd = range.lowerBound
        pace = ConnectionPace(now: now)
    }

    /// The number of bytes in the territory that have not come yet.
    var left: Int64 { max(0, end - position) }
    /// The number of bytes in the territory that have not been requested.
    var unasked: Int64 { max(0, end - max(position, leaseEnd)) }

    mutating func asked(until end: Int64, at now: Double) {
        pace.asked(at: now)
        isAsked = true
        isSuperseded = false
        start = position
        leaseEnd = end
    }

    /// Skips the bytes before `position`, which have already come.
    mutating func skip(to position: Int64) {
        self.position = max(self.position, position)
        start = max(start, position)
    }

    /// Gives up the whole territory.
    mutating func leaveAll() { (end, leaseEnd, duplicates, duplicatedBy) = (position, position, nil, nil) }

    mutating func answered(at now: Double) { pace.answered(at: now) }

    /// Records how far the request has come. Returns the number of bytes that tell something about the speed.
    mutating func move(to position: Int64, at now: Double, burst: Double) -> Int64 {
        guard isAsked, pace.answer != nil || position > self.position else { return 0 }
        let count = max(0, position - self.position)
        self.position = max(self.position, position)
        return pace.observe(count, at: now, burst: burst)
    }
}
