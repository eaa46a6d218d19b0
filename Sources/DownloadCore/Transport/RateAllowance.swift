/// The part of rate limits that somebody has who moves bytes without a transfer; letting go of it gives back what is left.
package protocol RateAllowance: AnyObject, Sendable {
    /// How many of these bytes may be moved now; with none, it is to be asked again a few times a second.
    func take(_ count: Int) -> Int
    /// So many of them were not moved.
    func giveBack(_ count: Int)
}
