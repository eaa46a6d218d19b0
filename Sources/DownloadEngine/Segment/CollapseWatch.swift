import Foundation

/// Finds out whether the speed of all connections together has collapsed, and whether closing connections helped.
struct CollapseWatch: Sendable {
    enum Finding: Sendable, Equatable {
        /// The speed fell far below its recent best. The caller closes connections.
        case collapsed
        /// The speed has recovered with fewer connections than this number.
        /// - Parameters:
        ///   - fallback: The number to which the caller went back first, which may be right.
        ///   - isByStep: Whether the number had just been raised, so that it certainly was the cause. Otherwise the
        ///     network may have been gone for some seconds.
        case recovered(from: Int, fallback: Int, isByStep: Bool)
        /// The speed stays low although connections were closed.
        /// - Parameter number: The number of connections to use from now on.
        case slower(number: Int)
    }

    private struct Recovery {
        let former: Int
        var fallback: Int?
        let isByStep: Bool
        /// The speed for each of the former connections that counts as recovered.
        let share: Double
        /// The time until which a recovery is awaited.
        var end = Double.infinity
    }

    /// The times at which bytes were counted in the last seconds.
    private var samples: [(at: Double, bytes: Double)] = []
    private var best = 0.0
    /// The time since which the speed is low.
    private var low: Double?
    private var recovery: Recovery?

    /// The seconds over which the speed is measured.
    private static let span = 1.0
    /// The fraction of the recent best speed below which the speed has collapsed.
    private static let collapse = 1.0 / 3
    /// The fraction of the recent best speed of a connection from which the speed has recovered.
    private static let recovered = 0.5
    /// The seconds for which the speed must be low, in general and after a step up.
    private static let lowTime = (any: 1.2, step: 0.3)
    /// The seconds in which the best speed loses two thirds of its weight.
    private static let memory = 30.0
    /// The seconds for which a recovery is awaited: in general, after a step up, and with the last connection after one.
    private static let patience = (any: 3.0, step: 3.5, last: 12.0)

    /// Whether a recovery is awaited.
    var isAlert: Bool { recovery != nil }

    /// Begins anew after a change of the number of connections.
    mutating func restart() {
        samples = []
        low = nil
    }

    /// Compares the speed of the last second with the recent best speed. Returns nil if nothing follows from it.
    /// - Parameter count: The number of connections.
    /// - Parameter isStep: Whether the number was just raised.
    mutating func observe(_ seen: ConnectionRamp.Observation, count: Int, isStep: Bool) -> Finding? {
        samples.append((seen.now, seen.sums.bytes))
        let first = samples.lastIndex { $0.at <= seen.now - Self.span } ?? 0
        samples.removeFirst(first)
        guard let begin = samples.first, seen.now - begin.at >= (isStep ? 0.5 : 0.9) * Self.span else { return nil }
        let speed = (seen.sums.bytes - begin.bytes) / (seen.now - begin.at)
        if let recovery { return awaited(recovery, speed, count, seen.now) }
        let elapsed = seen.now - begin.at
        best = max(best * exp(-elapsed / Double(max(1, samples.count)) / Self.memory), speed)
        // At the end of a file, connections run out of work.
        guard count > 1, speed < Self.collapse * best, Double(seen.left) > max(4 * speed, best / 2) else {
            low = nil
            return nil
        }
        let since = low ?? seen.now
        low = since
        guard seen.now - since >= (isStep ? Self.lowTime.step : Self.lowTime.any) else { return nil }
        low = nil
        return collapse(count, isByStep: isStep)
    }

    /// Records a speed that was measured in another way.
    mutating func learn(_ speed: Double) { best = max(best, speed) }

    /// Records the number of connections to which the caller went back, and awaits a recovery from then on.
    mutating func wentBack(to count: Int, at now: Double) {
        guard var awaited = recovery else { return }
        awaited.fallback = awaited.fallback ?? count
        let patience = !awaited.isByStep ? Self.patience.any : count > 1 ? Self.patience.step : Self.patience.last
        awaited.end = now + patience
        recovery = awaited
        // Some bytes of the last second came before the collapse.
        samples = []
    }

    /// Begins to await a recovery. Also called when the speed fell at once after a step up.
    mutating func collapse(_ count: Int, isByStep: Bool) -> Finding {
        recovery = Recovery(former: count, isByStep: isByStep, share: best * Self.recovered / Double(count))
        return .collapsed
    }

    private mutating func awaited(
        _ recovery: Recovery, _ speed: Double, _ count: Int, _ now: Double
    ) -> Finding? {
        if speed >= recovery.share * Double(count) {
            self.recovery = nil
            best = speed
            return .recovered(
                from: recovery.former, fallback: recovery.fallback ?? count, isByStep: recovery.isByStep)
        }
        guard now >= recovery.end else { return nil }
        if recovery.isByStep, count > 1 {
            // All connections are throttled, so it costs next to nothing to close more of them.
            return .collapsed
        }
        self.recovery = nil
        best = speed
        return .slower(number: recovery.isByStep ? recovery.fallback ?? count : recovery.former)
    }
}
