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
