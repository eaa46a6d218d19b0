/// How many connections a download has: as many as were asked for; or, left to itself, one, then more in large steps as
/// long as each step pays. Never more than the server takes.
struct ConnectionRamp: Sendable {
    /// So many there should be, by what this download knows.
    private(set) var wanted: Int
    /// So many it may have: the rest is with other downloads.
    private var granted = Int.max
    /// The number is found, or was given.
    private(set) var isSettled: Bool
    /// More than so many were refused.
    private(set) var cap: Int?
    private(set) var hasLearned = false
    /// It wanted more than it was granted, so what it found may say little about the host.
    private(set) var wasHeldBack = false

    private let limit: Int
    /// Known of this host: tried in one step.
    private let best: Int?
    private var before: (count: Int, speed: Double)?
    private var window: (start: Double, bytes: Double, isRepeated: Bool)?
    private var stepped: Double
    private var halved = -Double.infinity

    /// A file that is smaller, or has fewer seconds to go, is not worth a second connection.
    static let leastSize: Int64 = 4 << 20
    private static let leastTimeLeft = 2.0
    /// As browsers have them.
    private static let firstStep = 6
    /// Seconds for which one connection is watched at least, without the beginning of its answer.
    private static let firstLook = 0.16
    /// Each connection should have at least so much to do.
    private static let leastShare = 1_048_576.0

    /// What the planner has seen when it asks for a number.
    struct Observation {
        let now: Double
        /// Seconds for which a level must be watched: long enough for the round trips.
        let window: Double
        /// Every connection is past the beginning of its answer.
        let isSteady: Bool
        /// Brought by all connections, without the beginnings of answers.
        let bytes: Double
        /// Every connection brought something since then.
        let allBrought: (Double) -> Bool
        let left: Int64
    }

    /// - Parameter wish: nil leaves it to what is observed.
    /// - Parameter limit: the most connections where it is left to that.
    /// - Parameter start: so many there are at first, unless one is enough.
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

    /// So many there should be now.
    var target: Int { min(wanted, granted) }

    /// Other downloads from the host have come, or gone. What is being watched begins anew when that changes the number.
    mutating func grant(_ count: Int, now: Double) {
        let former = target
        granted = count
        if target < wanted { wasHeldBack = true }
        guard target != former else { return }
        stepped = now
        window = nil
        if let before, before.count >= target { self.before = nil }
    }

    /// The server gave one connection less than it was asked for, or lets go of one it had.
    /// - Parameter serving: those that it still answers.
    /// - Parameter wasServing: it refuses even those.
    mutating func refuse(serving: Int, wasServing: Bool, now: Double) {
        var taken = max(1, serving)
        // Several refusals at once are one.
        if wasServing, now - halved > 1 {
            taken = max(1, min(serving, target / 2))
            halved = now
        }
        cap = min(cap ?? .max, taken)
        wanted = min(wanted, taken)
        isSettled = true
        hasLearned = true
    }

    /// Too many were lost: those that run carry on.
    mutating func stay(at count: Int) {
        wanted = min(wanted, max(1, count))
        isSettled = true
    }

    mutating func observe(_ seen: Observation) {
        guard !isSettled else { return }
        guard let window else { return open(seen, isRepeated: false) }
        let elapsed = seen.now - window.start
        // The first only tells how long there is to go: what it finds too slow is found again by the next.
        guard
            elapsed
                >= (before == nil ? max(Self.firstLook, 0.4 * seen.window) : seen.window * (window.isRepeated ? 2 : 1)),
            seen.allBrought(window.start) || elapsed >= 3 * seen.window
        else { return }
        let speed = (seen.bytes - window.bytes) / elapsed
        guard speed > 0 else { return }
        judge(speed, seen, isRepeated: window.isRepeated)
    }

    /// A new level is watched once every connection brings it, or will not soon.
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
            // Once may be chance.
            if !isRepeated { return window = (seen.now, seen.bytes, true) }
            if gain < 1.05 { wanted = before.count }
            return settle()
        }
        hasLearned = true
        let factor = share >= 0.6 ? 4 : 2
        guard let next = step(from: target, by: factor, speed, seen) else {
            // Nothing more to gain in what is left of this file, or nothing more allowed.
            if target == limit { settle() } else { self.before = (target, speed) }
            return
        }
        go(to: next, from: speed, seen)
    }

    private func step(from count: Int, by factor: Int, _ speed: Double, _ seen: Observation) -> Int? {
        let left = Double(seen.left)
        // First what it wants already.
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
