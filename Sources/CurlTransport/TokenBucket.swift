import DownloadCore

/// The bytes that one rate limit allows and that nobody was dealt yet; it never owes. Pure: time is what it is told,
/// in ms.
struct TokenBucket {
    /// Held, so that no other limit can get its identity while this bucket exists.
    var limit: RateLimit
    private(set) var rate: Int64
    private(set) var tokens = 0.0
    private var updated: Int64
    /// How many members wait for this bucket and no other.
    var blocked = 0

    /// How much of the rate may be saved up, in seconds.
    private static var burst: Double { 0.1 }
    private static var leastDepth: Double { 1024 }

    /// Begins with nothing: forgotten and begun again, a limit allows no more than before.
    init(_ limit: RateLimit, rate: Int64, now: Int64) {
        self.limit = limit
        self.rate = rate
        updated = now
    }

    private var depth: Double { max(Self.leastDepth, Double(rate) * Self.burst) }

    var isDry: Bool { tokens < 1 }

    /// Brings the bucket to this time, at the rate until now; from here on the new one counts. Tells whether it differs.
    mutating func refill(rate newRate: Int64, now: Int64) -> Bool {
        tokens = min(depth, tokens + Double(rate) * Double(max(0, now - updated)) / 1000)
        updated = max(updated, now)
        guard newRate != rate else { return false }
        rate = newRate
        tokens = min(depth, tokens)
        return true
    }

    mutating func take(_ amount: Double) { tokens -= amount }

    mutating func giveBack(_ amount: Double) { tokens = min(depth, tokens + amount) }
}
