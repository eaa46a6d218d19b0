/// Says what may start: limits in all and per origin, priority, then order. Pure.
package struct Scheduler: Sendable, Equatable {
    package struct Candidate: Sendable, Equatable {
        package let id: DownloadID
        package let origin: String
        package let priority: Int

        package init(id: DownloadID, origin: String, priority: Int) {
            self.id = id
            self.origin = origin
            self.priority = priority
        }

        /// Starts earlier, all else equal.
        package func precedes(_ other: Candidate) -> Bool { other.follows(id, priority: priority) }

        /// Starts later than that one, all else equal.
        func follows(_ other: DownloadID, priority otherPriority: Int) -> Bool {
            (priority, other) < (otherPriority, id)
        }
    }

    /// At least 1; those that run already stay when it falls.
    package var maxConcurrent: Int { didSet { maxConcurrent = max(1, maxConcurrent) } }
    /// The most that the limit of open files allows.
    var mostByFiles = Int.max
    package var maxPerOrigin: Int { didSet { maxPerOrigin = max(1, maxPerOrigin) } }
    /// In place of ``maxPerOrigin``.
    package var hostLimits: [HostPattern: Int] = [:]
    /// By priority, then order.
    package private(set) var candidates: [Candidate] = []
    package private(set) var running: [DownloadID: String] = [:]
    private var perOrigin: [String: Int] = [:]
    /// Between two attempts: each stays in memory.
    package private(set) var retrying: [DownloadID: String] = [:]
    private var retryingPerOrigin: [String: Int] = [:]
    /// Origins that asked to be left alone, and until when.
    private var holds: [String: ContinuousClock.Instant] = [:]

    package init(maxConcurrent: Int, maxPerOrigin: Int) {
        self.maxConcurrent = max(1, maxConcurrent)
        self.maxPerOrigin = max(1, maxPerOrigin)
    }

    package var candidateCount: Int { candidates.count }

    package var hasFreeSlot: Bool {
        running.count < most && retrying.count < Self.retryingAtMost
    }

    private var most: Int { min(maxConcurrent, mostByFiles) }

    /// Where so many downloads failed and wait for another attempt, the others of a long queue would only join them.
    static let retryingAtMost = 4096
    static let retryingPerOriginAtMost = 256

    /// Origins with as many downloads as they may have, and those that are left alone.
    package var saturatedOrigins: Set<String> {
        Set(perOrigin.filter { $0.value >= limit($0.key) }.keys).union(holds.keys)
            .union(retryingPerOrigin.filter { $0.value >= Self.retryingPerOriginAtMost }.keys)
    }

    private func limit(_ origin: String) -> Int {
        hostLimits.isEmpty ? maxPerOrigin : hostLimits.value(for: SourceURL.host(of: origin)) ?? maxPerOrigin
    }

    private func isSaturated(_ origin: String) -> Bool {
        perOrigin[origin, default: 0] >= limit(origin) || holds[origin] != nil
            || retryingPerOrigin[origin, default: 0] >= Self.retryingPerOriginAtMost
    }

    /// It waits for another attempt, until ``doesNotWait(_:)``.
    package mutating func waits(_ id: DownloadID, for origin: String) {
        guard retrying.updateValue(origin, forKey: id) == nil else { return }
        retryingPerOrigin[origin, default: 0] += 1
    }

    /// Calling it for another download does nothing.
    package mutating func doesNotWait(_ id: DownloadID) {
        guard let origin = retrying.removeValue(forKey: id) else { return }
        retryingPerOrigin[origin, default: 1] -= 1
        if retryingPerOrigin[origin] == 0 { retryingPerOrigin[origin] = nil }
    }

    /// There is a slot, and one that may take it.
    package var canStart: Bool {
        hasFreeSlot && candidates.contains { !isSaturated($0.origin) }
    }

    /// More wait for the same origin.
    package func hasWaiting(for origin: String) -> Bool { candidates.contains { $0.origin == origin } }

    package func hasFreeSlot(for origin: String) -> Bool { hasFreeSlot && !isSaturated(origin) }

    /// Takes those that would start next, as long as each is meant and of one origin whose slots are all in use; they are
    /// given slots by ``pass(from:to:)``.
    /// - Parameter origin: nil: that of the first.
    package mutating func next(_ limit: Int, of origin: String?, where isMeant: (DownloadID) -> Bool) -> [DownloadID] {
        guard let origin = origin ?? candidates.first?.origin, let count = perOrigin[origin], holds[origin] == nil,
            count <= self.limit(origin), running.count <= most, retrying.count < Self.retryingAtMost,
            retryingPerOrigin[origin, default: 0] < Self.retryingPerOriginAtMost
        else { return [] }
        let taken = candidates.prefix(limit).prefix { $0.origin == origin && isMeant($0.id) }.map(\.id)
        candidates.removeFirst(taken.count)
        return taken
    }

    /// One that waits would start before that one.
    package func hasOneBefore(_ id: DownloadID, priority: Int) -> Bool {
        candidates.first.map { !$0.follows(id, priority: priority) } ?? false
    }

    /// One that was taken before has a slot from now on.
    package mutating func begin(_ id: DownloadID, of origin: String) {
        running[id] = origin
        perOrigin[origin, default: 0] += 1
    }

    /// The one has ended, and the other runs in its place.
    package mutating func pass(from id: DownloadID, to next: DownloadID) {
        running[next] = running.removeValue(forKey: id)
    }

    package mutating func add(_ candidate: Candidate) {
        let index = candidates.firstIndex { candidate.precedes($0) }
        candidates.insert(candidate, at: index ?? candidates.count)
    }

    /// The one that would start last.
    package func last(where isMeant: (DownloadID) -> Bool) -> Candidate? {
        candidates.last { isMeant($0.id) }
    }

    package mutating func remove(_ id: DownloadID) { candidates.removeAll { $0.id == id } }

    /// Takes the next one that the limits allow; it holds a slot until ``ended(_:)``.
    package mutating func start() -> DownloadID? {
        guard hasFreeSlot,
            let index = candidates.firstIndex(where: { !isSaturated($0.origin) })
        else { return nil }
        let candidate = candidates.remove(at: index)
        begin(candidate.id, of: candidate.origin)
        return candidate.id
    }

    /// Starts nothing from this origin before `instant`; what runs goes on.
    package mutating func hold(_ origin: String, until instant: ContinuousClock.Instant) {
        holds[origin] = max(holds[origin] ?? instant, instant)
    }

    /// Ends the holds that are over; true when there were any.
    package mutating func releaseHolds(at now: ContinuousClock.Instant) -> Bool {
        let count = holds.count
        if count > 0 { holds = holds.filter { $0.value > now } }
        return holds.count < count
    }

    /// Its transfers are over; calling it again does nothing.
    package mutating func ended(_ id: DownloadID) {
        guard let origin = running.removeValue(forKey: id) else { return }
        perOrigin[origin, default: 1] -= 1
        if perOrigin[origin] == 0 { perOrigin[origin] = nil }
    }
}
