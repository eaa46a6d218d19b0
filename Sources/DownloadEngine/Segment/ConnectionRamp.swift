import DownloadCore

/// The number of connections of a download, which is either requested or automatic. The automatic number usually starts
/// with one connection and rises in large steps, as long as each step makes the download faster. After the server has
/// refused a connection, the number does not rise again.
struct ConnectionRamp: Sendable {
    /// The number of connections that this download should have, by its own measurements.
    private(set) var wanted: Int
    /// The number of connections that the download may have, because other downloads use the same host.
    private var granted = Int.max
    /// Whether the number no longer rises: it was requested or measured, a server refused a connection, or more
    /// connections are not permitted or not worthwhile.
    private(set) var isSettled: Bool
    /// The number of connections above which the server refused more, if it did.
    private(set) var cap: Int?
    private(set) var hasLearned = false
    /// Whether the download wanted more connections than it was granted. If so, its measurements may say little about
    /// the host.
    private(set) var wasHeldBack = false

    private let limit: Int
    /// The best number of connections from the host profile. The first step multiplies the connections by it.
    private let best: Int?
    private var before: (count: Int, speed: Double)?
    private var window: (start: Double, bytes: Double, isRepeated: Bool)?
    private var stepped: Double
    private var halved = -Double.infinity

    /// The size in bytes below which a file is not worth a second connection.
    static let leastSize: Int64 = 4 << 20
    private static let leastTimeLeft = 2.0
    /// The number of connections that browsers open to a host.
    private static let firstStep = 6
    /// The minimum time in seconds for which one connection is observed, not counting the start of its answer.
    private static let firstLook = 0.16
    /// The minimum number of bytes that each connection should have to fetch.
    private static let leastShare = 1_048_576.0

    /// The observations that the planner passes to the ramp.
    struct Observation {
        let now: Double
        /// The time in seconds for which a number of connections must be observed. It is long enough for several round
        /// trips.
        let window: Double
        /// Whether every connection is past the start of its answer.
        let isSteady: Bool
        /// The number of bytes that all connections brought, without the starts of answers.
        let bytes: Double
        /// Returns whether every connection has brought something since the given time.
        let allBrought: (Double) -> Bool
        let left: Int64
    }

    /// Makes a ramp.
    /// - Parameter wish: The requested number, or nil for an automatic one.
    /// - Parameter limit: The maximum of an automatic number.
    /// - Parameter start: The number at the beginning, unless one connection is enough.
    init(
        wish: Int?, limit automaticLimit: Int = SegmentPlanner.automaticLimit, size: Int64, knowledge: HostKnowledge?,
        start: Int = 1, now: Double
    ) {
        let limit = min(wish ?? automaticLimit, knowledge?.cap.map { max(1, $0) } ?? .max)
        self.limit = wish ?? limit
        cap = wish == nil ? knowledge?.cap : nil
        best = knowledge.map { min(max(2, $0.best), limit) }
        wanted = wish ?? 1
        isSettled = wish != nil || size < Self.leastSize || limit < 2 || knowledge?.best == 1
        stepped = now
        if !isSettled { wanted = min(start, limit) }
    }

    /// The number of connections that the download should have now.
    var target: Int { min(wanted, granted) }

    /// Sets how many connections the download may have. The number changes when other downloads from the host come or
    /// go. If the target changes, the observation starts again.
    mutating func grant(_ count: Int, now: Double) {
        let former = target
        granted = count
        if target < wanted { wasHeldBack = true }
        guard target != former else { return }
        stepped = now
        window = nil
        if let before, before.count >= target { self.before = nil }
    }

    /// Records that the server refused one connection, or closed one that it had served.
    /// - Parameter serving: The number of connections that the server still serves.
    /// - Parameter wasServing: Whether the server had served the refused connection before.
    mutating func refuse(serving: Int, wasServing: Bool, now: Double) {
        var taken = max(1, serving)
        // Several refusals within a second count as one.
        if wasServing, now - halved > 1 {
            taken = max(1, min(serving, target / 2))
            halved = now
        }
        cap = min(cap ?? .max, taken)
        wanted = min(wanted, taken)
        isSettled = true
        hasLearned = true
    }

    /// Limits the number to `count` from now on, because too many connections were lost or an answer was unfit. The
    /// running connections continue.
    mutating func stay(at count: Int) {
        wanted = min(wanted, max(1, count))
        isSettled = true
    }

    mutating func observe(_ seen: Observation) {
        guard !isSettled else { return }
        guard let window else { return open(seen, isRepeated: false) }
        let elapsed = seen.now - window.start
        // The first window is short, because it only estimates how much time is left. If the measured speed is too low,
        // the next window corrects it.
        guard
            elapsed
                >= (before == nil ? max(Self.firstLook, 0.4 * seen.window) : seen.window * (window.isRepeated ? 2 : 1)),
            seen.allBrought(window.start) || elapsed >= 3 * seen.window
        else { return }
        let speed = (seen.bytes - window.bytes) / elapsed
        guard speed > 0 else { return }
        judge(speed, seen, isRepeated: window.isRepeated)
    }

    /// Starts to measure a new number of connections once every connection is steady, or after a long time.
    private mutating func open(_ seen: Observation, isRepeated: Bool) {
        guard seen.isSteady || seen.now - stepped > 15 * seen.window else { return }
        window = (seen.now, seen.bytes, isRepeated)
    }

    private mutating func judge(_ speed: Double, _ seen: Observation, isRepeated: Bool) {
        window = nil
        guard let before, before.count < target else {
            let factor = before == nil ? best ?? Self.firstStep : 2
            if let next = step(from: target, by: factor, speed, seen) { go(to: next, from: speed, seen) }
            return
        }
        let gain = speed / before.speed
        let share = (gain - 1) / (Double(target) / Double(before.count) - 1)
        if share < 0.4, gain < 1.25 {
            // A single low gain may be chance, so it is measured once more.
            if !isRepeated { return window = (seen.now, seen.bytes, true) }
            if gain < 1.05 { wanted = before.count }
            return settle()
        }
        hasLearned = true
        let factor = share >= 0.6 ? 4 : 2
        guard let next = step(from: target, by: factor, speed, seen) else {
            // The rest of this file is too small for another step, or no more connections are allowed.
            if target == limit { settle() } else { self.before = (target, speed) }
            return
        }
        go(to: next, from: speed, seen)
    }

    private func step(from count: Int, by factor: Int, _ speed: Double, _ seen: Observation) -> Int? {
        let left = Double(seen.left)
        // A download that has fewer connections than it wants takes no further step.
        guard target == wanted, left / speed >= max(Self.leastTimeLeft, 4 * seen.window) else { return nil }
        let next = min(count * factor, limit, Int(left / Self.leastShare))
        return next > count ? next : nil
    }

    private mutating func go(to next: Int, from speed: Double, _ seen: Observation) {
        before = (target, speed)
        wanted = next
        window = nil
        stepped = seen.now
    }

    private mutating func settle() {
        isSettled = true
        hasLearned = true
    }
}
