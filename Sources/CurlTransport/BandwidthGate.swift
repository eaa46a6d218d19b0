import DownloadCore
import Synchronization

/// An engine's own transfers that a rate limit holds back, and when to look at them again. Engine thread only.
///
/// While one is held back the engine looks every few ms, so a limit that is raised or lifted needs to wake nobody: what
/// is not held back reads the limit with its next piece.
struct BandwidthGate {
    private let shared: SharedState
    private var held: [CurlTransfer] = []
    /// Loop time in ms of the next `release`; nil while nothing is held back.
    private(set) var deadline: Int64?

    /// The longest time between two looks, in ms. A look costs something for each that is held.
    private static let longest: Int64 = 10
    private static let heldPerTick = 8

    /// A fast one is held for no longer than its line takes for a megabyte: what the kernel keeps for it meanwhile must
    /// not fill up, or the server stops. Where many are held, none of them is fast.
    private func tick(_ transfer: CurlTransfer) -> Int64 {
        let least = Int64(1 + held.count / Self.heldPerTick)
        guard least < Self.longest, let rate = transfer.request.lowestRate else { return Self.longest }
        return max(least, min(Self.longest, 1_000_000_000 / max(1, rate)))
    }

    init(_ shared: SharedState) { self.shared = shared }

    /// Books for the transfer as many of these bytes as it may take now; with none it waits until `release` returns it.
    mutating func admits(_ count: Int, for transfer: CurlTransfer, now: Int64) -> Int {
        guard transfer.request.isLimited else { return count }
        transfer.isKnownToLimiter = true
        let admitted = shared.limiter.withLock {
            $0.take(count, for: ObjectIdentifier(transfer), under: transfer.request.rateLimits, now: now)
        }
        if admitted == 0 {
            held.append(transfer)
            deadline = min(deadline ?? .max, now + tick(transfer))
        }
        return admitted
    }

    /// Booked bytes were not taken after all.
    func giveBack(_ count: Int, from transfer: CurlTransfer, now: Int64) {
        guard transfer.isKnownToLimiter else { return }
        shared.limiter.withLock { $0.giveBack(count, from: ObjectIdentifier(transfer), now: now) }
    }

    /// Those that may go on, once it is time to look.
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

    /// The transfer has ended.
    mutating func forget(_ transfer: CurlTransfer) {
        guard transfer.isKnownToLimiter else { return }
        shared.limiter.withLock { $0.forget(ObjectIdentifier(transfer)) }
        held.removeAll { $0 === transfer }
        if held.isEmpty { deadline = nil }
    }
}

extension TransferRequest {
    /// At this moment: limits change.
    var isLimited: Bool { rateLimits.contains { $0.bytesPerSecond != nil } }

    /// The least of its limits at this moment.
    var lowestRate: Int64? { rateLimits.compactMap(\.bytesPerSecond).min() }
}
