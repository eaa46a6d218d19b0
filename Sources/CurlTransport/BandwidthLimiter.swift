import DownloadCore

/// Keeps every rate limit for those under it: a bucket for each limit, and who waits for which. Pure: time is what it
/// is told, in ms; the rates are read from the limits whenever they matter, so a change counts at once.
struct BandwidthLimiter<Member: Hashable> {
    private var buckets: [ObjectIdentifier: TokenBucket<Member>] = [:]
    private var waiting: [Member: ObjectIdentifier] = [:]
    /// Buckets without members that still owe: the next transfer under that limit must not begin with a clean slate.
    private var abandoned: Set<ObjectIdentifier> = []

    /// Takes a piece from every limit, or from none: then the member waits.
    mutating func take(_ count: Int, for member: Member, under limits: [RateLimit], now: Int64) -> Bool {
        for limit in limits {
            let id = ObjectIdentifier(limit)
            guard let rate = limit.bytesPerSecond else {
                lift(id)
                continue
            }
            buckets[id, default: TokenBucket(limit, rate: rate, now: now)].refill(rate: rate, now: now)
            guard buckets[id]?.admits(count, for: member) != false else {
                waiting[member] = id
                return false
            }
        }
        for limit in limits { buckets[ObjectIdentifier(limit)]?.charge(count, to: member) }
        return true
    }

    /// Undoes a `take` of which nothing was used.
    mutating func giveBack(_ count: Int, from member: Member, under limits: [RateLimit]) {
        for limit in limits { buckets[ObjectIdentifier(limit)]?.charge(-count, to: member) }
    }

    /// Deals to those that wait what there is by now.
    mutating func deal(now: Int64) {
        for id in Set(waiting.values) {
            guard let rate = buckets[id]?.limit.bytesPerSecond else {
                lift(id)
                continue
            }
            buckets[id]?.refill(rate: rate, now: now)
            for member in buckets[id]?.deal() ?? [] { waiting[member] = nil }
        }
    }

    func isWaiting(_ member: Member) -> Bool { waiting[member] != nil }

    /// The member has ended.
    mutating func forget(_ member: Member, under limits: [RateLimit], now: Int64) {
        waiting[member] = nil
        for id in limits.map(ObjectIdentifier.init) {
            buckets[id]?.remove(member)
            abandoned.insert(id)
        }
        for id in abandoned where !mustRemember(id, now: now) { abandoned.remove(id) }
    }

    /// Whether an abandoned bucket still owes; one that does not is dropped.
    private mutating func mustRemember(_ id: ObjectIdentifier, now: Int64) -> Bool {
        guard buckets[id]?.isUsed == false else { return false }
        if let rate = buckets[id]?.limit.bytesPerSecond {
            buckets[id]?.refill(rate: rate, now: now)
            if buckets[id]?.isSettled == false { return true }
        }
        buckets[id] = nil
        return false
    }

    /// For tests: how many limits are remembered.
    var count: Int { buckets.count }

    private mutating func lift(_ id: ObjectIdentifier) {
        for member in buckets.removeValue(forKey: id)?.waiting ?? [] { waiting[member] = nil }
    }
}
