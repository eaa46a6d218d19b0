import DownloadCore
import Synchronization

/// The rate allowance of a copy on this machine, which shares its limits with transfers.
final class LimitedCopy: RateAllowance {
    private let shared: SharedState
    private let limits: [RateLimit]

    init(_ shared: SharedState, _ limits: [RateLimit]) {
        self.shared = shared
        self.limits = limits
    }

    deinit { shared.limiter.withLock { $0.forget(ObjectIdentifier(self)) } }

    /// Returns how many of the `count` bytes may be copied now. While this copy waits, the call also divides the newly
    /// allowed bytes among the waiting transfers and copies. An engine usually does this, but perhaps no engine has a
    /// waiting transfer.
    func take(_ count: Int) -> Int {
        guard limits.contains(where: { $0.bytesPerSecond != nil }) else { return count }
        let now = CurlLoop.time()
        return shared.limiter.withLock { limiter in
            if limiter.isWaiting(ObjectIdentifier(self)) { limiter.deal(now: now) }
            return limiter.take(count, for: ObjectIdentifier(self), under: limits, now: now)
        }
    }

    func giveBack(_ count: Int) {
        shared.limiter.withLock { $0.giveBack(count, from: ObjectIdentifier(self), now: CurlLoop.time()) }
    }
}
