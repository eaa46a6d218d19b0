import DownloadCore
import Synchronization

/// The transfers of one engine that a rate limit suspends, and the time to check them again. Only the engine thread
/// uses it.
///
/// While a transfer is suspended, the engine checks every few ms, so raising or lifting a limit does not have to wake
/// the engine. A transfer that is not suspended reads its limits each time that data arrives.
struct BandwidthGate {
    private let shared: SharedState
    private var held: [CurlTransfer] = []
    /// The loop time in ms of the next `release`; nil while no transfer is suspended.
    private(set) var deadline: Int64?

    /// The longest time between two checks, in ms. The cost of a check grows with the number of suspended transfers.
    private static let longest: Int64 = 10
    private static let heldPerTick = 8

    /// Returns how long to wait before the transfer is checked again, in ms. A fast transfer waits at most for the time
    /// in which its limit lets 1 MB pass. Otherwise the kernel's receive buffer would fill up and the server would stop
    /// sending. If many transfers are suspended, none of them is fast, and the wait is longer.
    private func tick(_ transfer: CurlTransfer) -> Int64 {
        let least = Int64(1 + held.count / Self.heldPerTick)
        guard least < Self.longest, let rate = transfer.request.lowestRate else { return Self.longest }
        return max(least, min(Self.longest, 1_000_000_000 / max(1, rate)))
    }

    init(_ shared: SharedState) { self.shared = shared }

    /// Reserves as many of the `count` bytes as the transfer may take now, and returns their number. If the number is
    /// 0, the transfer is suspended until `release` returns the transfer.
    mutating func admits(_ count: Int, for transfer: CurlTransfer, now: Int64) -> Int {
        guard transfer.request.isLimited else { return count }
        transfer.delivery.isKnownToLimiter = true
        let admitted = shared.limiter.withLock {
            $0.take(count, for: ObjectIdentifier(transfer), under: transfer.request.rateLimits, now: now)
        }
        if admitted == 0 {
            held.append(transfer)
            deadline = min(deadline ?? .max, now + tick(transfer))
        }
        return admitted
    }

    /// Gives reserved bytes back to the limiter, for a transfer that did not take them after all.
    func giveBack(_ count: Int, from transfer: CurlTransfer, now: Int64) {
        guard transfer.delivery.isKnownToLimiter else { return }
        shared.limiter.withLock { $0.giveBack(count, from: ObjectIdentifier(transfer), now: now) }
    }

    /// Returns the transfers that may resume. Returns none before the next check is due.
    mutating func release(now: Int64) -> [CurlTransfer] {
        guard let deadline, deadline <= now else { return [] }
        var released: [CurlTransfer] = []
        var waiting: [CurlTransfer] = []
        shared.limiter.withLock { limiter in
            limiter.deal(now: now)
            for transfer in held {
                if limiter.isWaiting(ObjectIdentifier(transfer)) {
                    waiting.append(transfer)
                } else {
                    released.append(transfer)
                }
            }
        }
        held = waiting
        self.deadline = held.map(tick).min().map { now + $0 }
        return released
    }

    /// Removes a transfer that has ended.
    mutating func forget(_ transfer: CurlTransfer) {
        guard transfer.delivery.isKnownToLimiter else { return }
        shared.limiter.withLock { $0.forget(ObjectIdentifier(transfer)) }
        held.removeAll { $0 === transfer }
        if held.isEmpty { deadline = nil }
    }
}

extension TransferRequest {
    /// Whether one of the limits has a rate at this moment. Limits can change at any time.
    var isLimited: Bool { rateLimits.contains { $0.bytesPerSecond != nil } }

    /// The lowest rate among the limits at this moment, in bytes per second; nil if none of them has a rate.
    var lowestRate: Int64? { rateLimits.compactMap(\.bytesPerSecond).min() }
}
