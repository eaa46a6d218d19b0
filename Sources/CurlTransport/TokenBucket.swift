import DownloadCore

/// The bytes that one rate limit allows, dealt to its members in turn. Pure: time is what it is told, in ms.
///
/// Tokens are bytes not dealt yet, and every deal is of one quantum at least: the bucket may owe as much, which is paid
/// back before there is more. A member spends the credit it was dealt and keeps the rest for its next piece, so members
/// get the same number of bytes, whatever the size of their pieces.
struct TokenBucket<Member: Hashable> {
    let limit: RateLimit
    private var rate: Int64
    private var tokens = 0.0
    private var updated: Int64
    private var credits: [Member: Double] = [:]
    private var queue: [Waiter] = []

    /// A member, and the size of the piece for which it has no credit.
    private struct Waiter {
        let member: Member
        let count: Double
    }

    /// The least that is dealt: what libcurl delivers at once.
    static var quantum: Double { 16384 }
    /// How much of the rate may be saved up, in seconds.
    private static var burst: Double { 0.1 }

    init(_ limit: RateLimit, rate: Int64, now: Int64) {
        self.limit = limit
        self.rate = rate
        updated = now
    }

    private var depth: Double { max(Self.quantum, Double(rate) * Self.burst) }

    var isUsed: Bool { !credits.isEmpty }

    /// Without debt: forgotten, and begun again, it would be no other.
    var isSettled: Bool { tokens >= 0 }

    /// Brings the bucket to this time, at the rate until now; from here on the new one counts.
    mutating func refill(rate newRate: Int64, now: Int64) {
        tokens = min(depth, tokens + Double(rate) * Double(max(0, now - updated)) / 1000)
        updated = max(updated, now)
        guard newRate != rate else { return }
        rate = newRate
        // What was dealt at the old rate may be many seconds' worth at the new one.
        for (member, credit) in credits {
            tokens += credit
            credits[member] = 0
        }
        tokens = min(depth, tokens)
    }

    /// In the order in which they are served.
    var waiting: [Member] { queue.map(\.member) }

    /// Whether the member may take a piece of this size now; if not, it waits until `deal` names it.
    mutating func admits(_ count: Int, for member: Member) -> Bool {
        let waiter = Waiter(member: member, count: Double(count))
        credits[member] = credits[member, default: 0]
        if isAble(waiter) { return true }
        if queue.isEmpty, tokens >= 0 {
            give(max(Self.quantum, tokens / Double(credits.count)), to: member)
            if isAble(waiter) { return true }
        }
        queue.append(waiter)
        return false
    }

    /// Books a piece that an admitted member takes; a negative count gives it back.
    mutating func charge(_ count: Int, to member: Member) { credits[member]? -= Double(count) }

    /// Deals what there is to those that wait, and returns those that may go on.
    mutating func deal() -> [Member] {
        guard !queue.isEmpty else { return [] }
        let share = max(Self.quantum, tokens / Double(queue.count))
        var unserved: [Waiter] = []
        var served: [Member] = []
        for waiter in queue {
            if tokens >= 0 { give(share, to: waiter.member) }
            if isAble(waiter) { served.append(waiter.member) } else { unserved.append(waiter) }
        }
        queue = unserved
        return served
    }

    private func isAble(_ waiter: Waiter) -> Bool { credits[waiter.member, default: 0] >= waiter.count }

    private mutating func give(_ share: Double, to member: Member) {
        tokens -= share
        credits[member, default: 0] += share
    }

    /// Takes back what the member did not spend.
    mutating func remove(_ member: Member) {
        if let credit = credits.removeValue(forKey: member) { tokens += credit }
        queue.removeAll { $0.member == member }
    }
}
