/// The share of rate limits for code that moves bytes without a transfer. When the object is released, the unused share
/// is returned.
package protocol RateAllowance: AnyObject, Sendable {
    /// Returns how many of these bytes may be moved now. If the result is 0, the caller asks again a few times a
    /// second.
    func take(_ count: Int) -> Int
    /// Returns bytes that were allowed, but not moved.
    func giveBack(_ count: Int)
}
