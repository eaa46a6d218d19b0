import Synchronization

/// A limit on the speed of every transfer that is given it, together; changed from any thread, it counts at once.
package final class RateLimit: Sendable {
    private let rate: Atomic<Int64>

    /// - Parameter bytesPerSecond: nil for none.
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
    /// The same limit, not only the same rate.
    package static func == (first: RateLimit, second: RateLimit) -> Bool { first === second }
}
