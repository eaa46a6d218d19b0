/// One connection as the planner sees it. Its territory is [position, end), and its running request is for [position,
/// leaseEnd).
struct PlannedConnection: Sendable {
    let id: Int
    /// The number of the address that the connection uses (``AddressSearch``).
    var address = 0
    var position: Int64
    var end: Int64
    var leaseEnd: Int64
    /// The end of the range that the running request asked for.
    private(set) var requestEnd: Int64
    /// Whether the running request is being ended, after which the connection is not used again.
    var isClosing = false
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
    var pace: ConnectionPace

    init(id: Int, range: Range<Int64>, now: Double) {
        self.id = id
        position = range.lowerBound
        end = range.upperBound
        (leaseEnd, requestEnd) = (range.lowerBound, range.lowerBound)
        pace = ConnectionPace(now: now)
    }

    /// The number of bytes in the territory that have not come yet.
    var left: Int64 { max(0, end - position) }
    /// The number of bytes in the territory that have not been requested.
    var unasked: Int64 { max(0, end - max(position, leaseEnd)) }

    /// Whether a request is running that is not being ended, and whose range no other connection has requested.
    var hasOwnRequest: Bool { isAsked && !isClosing && duplicates == nil && duplicatedBy == nil }

    mutating func asked(until end: Int64, at now: Double) {
        pace.asked(at: now)
        isAsked = true
        isSuperseded = false
        start = position
        (leaseEnd, requestEnd) = (end, end)
    }

    /// Skips the bytes before `position`, which have already come.
    mutating func skip(to position: Int64) {
        self.position = max(self.position, position)
        start = max(start, position)
    }

    /// Records how far the request has come, and adds the bytes since the last time to the sums.
    mutating func move(to position: Int64, at now: Double, burst: Double, _ sums: inout TransferSums) {
        guard isAsked, pace.answer != nil || position > self.position else { return }
        let count = max(0, position - self.position)
        self.position = max(self.position, position)
        sums.add(count, pace.observe(count, at: now, burst: burst))
    }
}
