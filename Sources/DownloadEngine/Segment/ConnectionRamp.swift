import DownloadCore
import Foundation

/// The controller of the number of connections of a download. The number is requested, or it is a search that lasts as
/// long as the download (docs/internals/attempt.md, "How many connections").
struct ConnectionRamp: Sendable {
    /// The number of connections that this download should have, by its own measurements.
    private(set) var wanted: Int
    /// The number of connections that the download may have, because other downloads use the same host.
    private var granted = Int.max
    /// Whether the user requested the number.
    let isFixed: Bool
    /// The last reason for a lower number, as text; nil if there was none.
    private(set) var restraint: String?
    private(set) var hasLearned = false
    /// Whether the download wanted more connections than it was granted. If so, its measurements may say little about
    /// the host.
    private(set) var wasHeldBack = false

    /// The maximum number: the requested one, or the limit of an automatic one.
    private let limit: Int
    /// The best number from the host profile, which is the first that is tried after one connection.
    private let best: Int?
    private var cap: Cap?
    private var speeds = CountedSpeeds()
    private var trial: Trial?
    private var window: (start: Double, sums: TransferSums)?
    /// The time of the last change of the number, and the number before it.
    private var stepped: (at: Double, from: Int)
    private var watch = CollapseWatch()
    private var pauses: (up: Pause, down: Pause)

    /// The number that must not be exceeded before a time.
    private struct Cap {
        var count: Int
        var end: Double
        /// The seconds for which the next refusal is believed.
        var next: Double
        /// Whether the number says something about the server.
        var isLearned = true
    }

    /// A number that is tried, with the number before and its speed.
    private struct Trial {
        let from: Int
        let speed: Double
        var isRepeated = false
    }

    /// The time before which no step is made in one direction. The pause doubles with each step that fails.
    private struct Pause {
        var end: Double
        var length: Double

        mutating func fail(at now: Double) {
            end = now + length
            length *= 2
        }
    }

    /// The size in bytes below which a file is not worth a second connection.
    static let leastSize: Int64 = 4 << 20
    /// The seconds that the rest of the file must take at the present speed, for any step.
    private static let leastTimeLeft = 2.0
    /// The first number that is tried after one connection, and the one that is tried if each trial takes long because
    /// of long round trips.
    private static let firstStep = (near: 4, far: 6)
    /// The length in seconds of an observation from which round trips count as long.
    private static let longWindow = 0.5
    /// The minimum time in seconds for which one connection is observed, not counting the start of its answer.
    private static let firstLook = 0.16
    /// The minimum number of bytes that each connection should have to fetch.
    private static let leastShare = 1_048_576.0
    /// The seconds after the first step up or down that failed.
    private static let pauses = (up: 4.0, down: 3.0)
    /// If a step up makes the download slower than this fraction, the server throttles all connections.
    private static let collapse = 0.5
    /// The seconds after a step up in which a collapse is its consequence.
    private static let blameTime = 3.5
    /// The seconds for which a number is avoided after a collapse that may have had another cause.
    private static let doubt = 15.0
    /// A smaller number is used if it is at least this fraction as fast.
    private static let asFast = 0.96

    /// The observations that the planner passes to the ramp.
    struct Observation {
        let now: Double
        /// The time in seconds for which a number of connections must be observed. It is long enough for several round
        /// trips.
        let window: Double
        /// Whether every connection is past the start of its answer.
        let isSteady: Bool
        /// The bytes that all connections have brought.
        let sums: TransferSums
        /// Returns whether every connection has brought something since the given time.
        let allBrought: (Double) -> Bool
        let left: Int64
    }

    init(
        wish: Int?, limit automaticLimit: Int = SegmentPlanner.automaticLimit, size: Int64, knowledge: HostKnowledge?,
        start: Int = 1, now: Double
    ) {
        isFixed = wish != nil
        limit = wish ?? (size < Self.leastSize ? 1 : automaticLimit)
        best = knowledge.map { max(2, $0.best) }
        cap = wish == nil ? (knowledge?.cap).map { Cap(count: max(1, $0), end: .infinity, next: .infinity) } : nil
        let up = Pause(end: knowledge?.best == 1 ? now + Self.pauses.up : now, length: Self.pauses.up)
        pauses = (up, Pause(end: now, length: Self.pauses.down))
        stepped = (now, wish ?? 1)
        wanted = wish ?? 1
        if wish == nil { wanted = min(start, most(at: now)) }
    }

    var target: Int { min(wanted, granted) }
    /// The number of connections above which the server refused or throttled more, if it did.
    var learnedCap: Int? { cap.flatMap { $0.isLearned ? $0.count : nil } }
    /// Whether a number is being tried, so that the next observation should come soon.
    var isTrying: Bool { trial != nil || watch.isAlert || !isFixed && limit > 1 && speeds.isEmpty }
    /// Whether observations make a difference.
    var observes: Bool { limit > 1 }

    /// Returns the maximum number at a time. When a cap has ended, one more connection may be tried.
    private func most(at now: Double) -> Int {
        guard let cap else { return limit }
        return min(limit, now < cap.end ? cap.count : cap.count + 1)
    }

    /// Sets how many connections the download may have. The number changes when other downloads from the host come or
    /// go. If the target changes, the observation starts again.
    mutating func grant(_ count: Int, now: Double) {
        let former = target
        granted = count
        if target < wanted { wasHeldBack = true }
        guard target != former else { return }
        startAgain(at: now)
        if let trial, trial.from >= target { self.trial = nil }
    }

    private mutating func startAgain(at now: Double) {
        stepped.at = now
        window = nil
        watch.restart()
    }

    /// Measures the present number again from the next observation on, because a connection is about to be replaced.
    mutating func measureAgain() { window = nil }

    /// Forgets what was observed since the last result, because something else than the network limited the speed.
    mutating func rest() {
        window = nil
        watch.restart()
    }

    // MARK: Refusals

    /// Records that the server refused one connection, or closed one that it had served.
    /// - Parameter serving: The number of connections that the server still serves.
    /// - Parameter wasServing: Whether the server had served the refused connection before. Then it may only still
    ///   count a connection that has ended.
    mutating func refuse(serving: Int, wasServing: Bool, now: Double) {
        let taken = max(1, serving)
        let pause = max(wasServing ? 2 : 10, cap.map { $0.end == .infinity ? 0 : $0.next } ?? 0)
        cap = Cap(count: min(cap?.count ?? .max, taken), end: now + pause, next: 2 * pause)
        wanted = min(wanted, taken)
        restraint = "the server refused \(taken + 1)"
        trial = nil
        hasLearned = true
        startAgain(at: now)
    }

    /// Limits the number to `count` from now on, because too many connections were lost or an answer was unfit. The
    /// running connections continue.
    mutating func stay(at count: Int) {
        wanted = min(wanted, max(1, count))
        cap = Cap(count: min(cap?.count ?? .max, wanted), end: .infinity, next: .infinity)
        trial = nil
    }

    // MARK: Observations

    mutating func observe(_ seen: Observation) {
        guard observes else { return }
        if let found = watch.observe(seen, count: target, isStep: wasRaised(seen.now)) {
            return answer(found, seen)
        }
        if watch.isAlert { return }
        if isFixed { return widen(seen) }
        guard let window else { return open(seen) }
        let elapsed = seen.now - window.start
        guard elapsed >= length(seen), seen.allBrought(window.start) || elapsed >= 3 * seen.window else { return }
        let speed = seen.sums.speed(since: window.sums, over: elapsed, connections: target)
        self.window = nil
        judge(speed, seen)
    }

    /// Whether the number was raised a short time ago, so that a collapse is its consequence.
    private func wasRaised(_ now: Double) -> Bool { stepped.from < target && now - stepped.at < Self.blameTime }

    /// Starts to measure a new number of connections once every connection is steady, or after a long time.
    private mutating func open(_ seen: Observation) {
        guard seen.isSteady || seen.now - stepped.at > 15 * seen.window else { return }
        window = (seen.now, seen.sums)
    }

    /// The seconds for which the present number is measured. The first measurement is short, because it only estimates
    /// how much time is left.
    private func length(_ seen: Observation) -> Double {
        guard let trial else { return speeds.isEmpty ? max(Self.firstLook, 0.4 * seen.window) : max(0.4, seen.window) }
        if target < trial.from { return max(0.5, 2 * seen.window) }
        return seen.window * (trial.isRepeated ? 2 : 1)
    }

    /// Brings a requested number back when the server is no longer expected to refuse it.
    private mutating func widen(_ seen: Observation) {
        let next = most(at: seen.now)
        guard next > wanted, let cap, cap.end < .infinity else { return }
        self.cap?.count = next
        self.cap?.end = seen.now + Self.pauses.up
        step(to: next, seen.now)
    }

    private mutating func judge(_ speed: Double, _ seen: Observation) {
        watch.learn(speed)
        let isChanged = speed > 0 && speeds.learn(speed, of: target)
        guard let trial else {
            if isChanged { (pauses.up.length, pauses.down.length) = Self.pauses }
            return search(speed, seen)
        }
        if target > trial.from { judgeUp(speed, trial, seen) } else { judgeDown(speed, trial, seen) }
    }

    private mutating func judgeUp(_ speed: Double, _ trial: Trial, _ seen: Observation) {
        let gain = speed / trial.speed
        let share = (gain - 1) / (Double(target) / Double(trial.from) - 1)
        if gain < Self.collapse {
            return answer(watch.collapse(target, isByStep: true), seen)
        }
        if share < 0.4, gain < 1.25 {
            // A single low gain may be chance, so it is measured once more.
            if !trial.isRepeated {
                self.trial?.isRepeated = true
                window = (seen.now, seen.sums)
                return
            }
            self.trial = nil
            hasLearned = true
            pauses.up.fail(at: seen.now)
            if gain < max(1.05, pow(1.02, Double(target - trial.from))) { step(to: trial.from, seen.now) }
            return
        }
        self.trial = nil
        hasLearned = true
        let reached = target
        if let cap, cap.count < reached { self.cap?.count = reached }
        pauses.up.length = Self.pauses.up
        search(speed, seen, factor: share >= 0.6 ? 4 : 2)
    }

    private mutating func judgeDown(_ speed: Double, _ trial: Trial, _ seen: Observation) {
        self.trial = nil
        hasLearned = true
        if speed >= Self.asFast * trial.speed { return search(speed, seen) }
        pauses.down.fail(at: seen.now)
        step(to: trial.from, seen.now)
    }

    /// Makes the next step, if there is one that may pay.
    private mutating func search(_ speed: Double, _ seen: Observation, factor: Int = 2) {
        // A download that has fewer connections than it wants makes no step.
        guard target == wanted else { return }
        let (left, count) = (Double(seen.left), target)
        guard left >= speed * max(Self.leastTimeLeft, 4 * seen.window) else { return }
        if seen.now >= pauses.up.end || speeds.isFaster(above: count, than: 1.1 * speed) {
            let first = best ?? (seen.window < Self.longWindow ? Self.firstStep.near : Self.firstStep.far)
            let tried = count == 1 ? first : count * factor
            let next = min(tried, most(at: seen.now), Int(left / Self.leastShare))
            if next > count { return attempt(next, from: speed, seen.now) }
        }
        guard count > 1, seen.now >= pauses.down.end else { return }
        let next = speeds.least(for: Self.asFast * speed, below: count)
        if next < count { attempt(next, from: speed, seen.now) }
    }

    private mutating func attempt(_ next: Int, from speed: Double, _ now: Double) {
        trial = Trial(from: target, speed: speed)
        step(to: next, now)
    }

    private mutating func step(to next: Int, _ now: Double) {
        stepped.from = wanted
        wanted = next
        startAgain(at: now)
    }

    // MARK: Collapse

    private mutating func answer(_ found: CollapseWatch.Finding, _ seen: Observation) {
        switch found {
        case .collapsed:
            let from = wanted
            // The last number that was not throttled is right, unless it is one connection, which says little.
            let isReturn = stepped.from > 1 && wasRaised(seen.now)
            wanted = isReturn ? stepped.from : max(1, from / 2)
            watch.wentBack(to: wanted, at: seen.now)
            trial = nil
            stepped = (seen.now, from)
            window = nil
        case .recovered(let from, let fallback, let isByStep):
            let count = min(cap?.count ?? .max, max(wanted, fallback))
            if isByStep {
                cap = Cap(count: count, end: .infinity, next: .infinity)
                restraint = "the server throttled \(from)"
                hasLearned = true
            } else if cap?.end != .infinity {
                cap = Cap(count: count, end: seen.now + Self.doubt, next: 2 * Self.doubt, isLearned: false)
            }
            pauses.up = Pause(end: seen.now, length: Self.pauses.up)
            speeds = CountedSpeeds()
        case .slower(let number):
            // The network is slower, whatever the number of connections is.
            wanted = min(number, most(at: seen.now))
            speeds = CountedSpeeds()
            startAgain(at: seen.now)
        }
    }
}

/// The speeds that were measured with each number of connections.
private struct CountedSpeeds {
    private var speeds: [Int: Double] = [:]

    var isEmpty: Bool { speeds.isEmpty }

    /// Adds a measurement. Returns whether the speed of this number has changed much. The speeds of larger numbers are
    /// forgotten then. A smaller number may still be as fast as it was.
    mutating func learn(_ speed: Double, of count: Int) -> Bool {
        let former = speeds.updateValue(speed, forKey: count)
        guard let former, speed < 0.7 * former || speed > 1.4 * former else { return false }
        speeds = speeds.filter { $0.key <= count }
        return true
    }

    func isFaster(above count: Int, than speed: Double) -> Bool {
        speeds.contains { $0.key > count && $0.value > speed }
    }

    /// Returns the least number of connections that may reach the speed, if each of them is as fast as a connection ever
    /// was.
    func least(for speed: Double, below count: Int) -> Int {
        let fastest = speeds.map { $0.value / Double($0.key) }.max() ?? .infinity
        return min(count, max(1, Int((speed / fastest).rounded(.up))))
    }
}
