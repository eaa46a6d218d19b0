import DownloadCore

/// The bytes that one rate limit allows and that no member has received yet. A bucket never goes into debt. It has no
/// clock; callers pass the time, in ms.
struct TokenBucket {
    /// The limit, retained so that no other limit can get its identity while this bucket exists.
    var limit: RateLimit
    private(set) var rate: Int64
    private(set) var tokens = 0.0
    private var updated: Int64
    /// The number of members that wait for this bucket.
    var blocked = 0

    /// The amount that a bucket may save, as seconds of its rate.
    private static var burst: Double { 0.1 }
    private static var leastDepth: Double { 1024 }

    /// Creates an empty bucket, so that a limit which is forgotten and created again allows no more than before.
    init(_ limit: RateLimit, rate: Int64, now: Int64) {
        self.limit = limit
        self.rate = rate
        updated = now
    }

    private var depth: Double { max(Self.leastDepth, Double(rate) * Self.burst) }

    var isDry: Bool { tokens < 1 }

    /// Adds the bytes for the time up to `now` at the old rate. The new rate applies from then on. Returns whether
    /// the rate has changed.
    mutating func refill(rate newRate: Int64, now: Int64) -> Bool {
        tokens = min(depth, tokens + Double(rate) * Double(max(0, now - updated)) / 1000)
        updated = max(updated, now)
        guard newRate != rate else { return false }
        rate = newRate
        tokens = min(depth, tokens)
        return true
    }

    /// Takes the bytes, or gives them back if the amount is negative.
    mutating func take(_ amount: Double) { tokens = min(depth, tokens - amount) }
}
