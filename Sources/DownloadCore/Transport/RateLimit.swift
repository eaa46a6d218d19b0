import Synchronization

/// A limit on the total speed of all transfers that have this object. It can be changed from any thread, and a change
/// applies at once.
package final class RateLimit: Sendable {
    private let rate: Atomic<Int64>

    /// - Parameter bytesPerSecond: The limit; nil for no limit.
    package init(_ bytesPerSecond: Int64? = nil) { rate = Atomic(bytesPerSecond ?? 0) }

    package var bytesPerSecond: Int64? {
        get {
            let value = rate.load(ordering: .relaxed)
            return value > 0 ? value : nil
        }
        set { rate.store(newValue ?? 0, ordering: .relaxed) }
    }
}

extension RateLimit: Equatable {
    /// Returns whether both are the same limit, not only two limits of the same rate.
    package static func == (first: RateLimit, second: RateLimit) -> Bool { first === second }
}

/// The share of rate limits for code that moves bytes without a transfer. When the object is released, the unused share
/// is returned.
package protocol RateAllowance: AnyObject, Sendable {
    /// Returns how many of these bytes may be moved now. If the result is 0, the caller asks again a few times a
    /// second.
    func take(_ count: Int) -> Int
    /// Returns bytes that were allowed, but not moved.
    func giveBack(_ count: Int)
}
