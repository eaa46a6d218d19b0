import DownloadCore

/// Decides which download may start: by the limits for all downloads and for each origin, then by priority, then by
/// order. The scheduler is a value and has no side effects.
package struct Scheduler: Sendable, Equatable {
    package struct Candidate: Sendable, Equatable {
        package let id: DownloadID
        package let origin: String
        package let priority: Int

        /// Returns whether this candidate starts later than the other download, all else equal.
        func follows(_ other: DownloadID, priority otherPriority: Int) -> Bool {
            (priority, other) < (otherPriority, id)
        }
    }

    /// The number of a slot: the id of the download that uses it, or a negative number for a slot of small files
    /// (``SmallFileQueue``).
    package typealias Slot = DownloadID

    /// The maximum number of running downloads, at least 1. When it falls, running downloads continue.
    package var maxConcurrent: Int { didSet { maxConcurrent = max(1, maxConcurrent) } }
    /// The maximum number of running downloads that the limit of open files allows.
    var mostByFiles = Int.max
    package var maxPerOrigin: Int { didSet { maxPerOrigin = max(1, maxPerOrigin) } }
    /// The limits for hosts, which replace ``maxPerOrigin``.
    package var hostLimits: [HostPattern: Int] = [:]
    /// The waiting downloads by priority, then by order. They are in a slice, because the first ones are taken often.
    package private(set) var candidates: ArraySlice<Candidate> = []
    /// The slots in use, with the origins of their downloads.
    package private(set) var running: [Slot: String] = [:]
    private var perOrigin: [String: Int] = [:]
    /// The downloads between two attempts, with their origins. Each of them stays in memory.
    package private(set) var retrying: [DownloadID: String] = [:]
    private var retryingPerOrigin: [String: Int] = [:]
    /// The origins from which no download may start yet, with the times at which this ends.
    private var holds: [String: ContinuousClock.Instant] = [:]
    /// The pauses that servers asked for, by origin.
    package private(set) var pauses: [String: Pause] = [:]
    /// The downloads that may start although the server asked for a pause.
    private var exempt: Set<DownloadID> = []

    /// A pause that a server asked for.
    package struct Pause: Sendable, Equatable {
        package var end: ContinuousClock.Instant
        package var status: Int
        /// The downloads that got the answer and wait for their next attempt. If all of them are gone, the pause ends.
        package var causes: Set<DownloadID>
    }

    package init(maxConcurrent: Int, maxPerOrigin: Int) {
        self.maxConcurrent = max(1, maxConcurrent)
        self.maxPerOrigin = max(1, maxPerOrigin)
    }

    package var hasFreeSlot: Bool {
        running.count < most && retrying.count < Self.retryingAtMost
    }

    private var most: Int { min(maxConcurrent, mostByFiles) }

    /// The maximum numbers of downloads between two attempts, for all origins together and for each origin. Starting
    /// more downloads of a long queue would probably only add failures.
    static let retryingAtMost = 4096
    static let retryingPerOriginAtMost = 256

    /// The origins with the maximum number of downloads, and the origins from which no download may start yet.
    package var saturatedOrigins: Set<String> {
        Set(perOrigin.filter { $0.value >= limit($0.key) }.keys).union(holds.keys).union(pauses.keys)
            .union(retryingPerOrigin.filter { $0.value >= Self.retryingPerOriginAtMost }.keys)
    }

    private func limit(_ origin: String) -> Int {
        hostLimits.isEmpty ? maxPerOrigin : hostLimits.value(for: SourceURL.host(of: origin)) ?? maxPerOrigin
    }

    private func isSaturated(_ origin: String) -> Bool {
        perOrigin[origin, default: 0] >= limit(origin) || holds[origin] != nil || pauses[origin] != nil
            || retryingPerOrigin[origin, default: 0] >= Self.retryingPerOriginAtMost
    }

    /// Records that a download waits for another attempt, until ``doesNotWait(_:)``.
    package mutating func waits(_ id: DownloadID, for origin: String) {
        guard retrying.updateValue(origin, forKey: id) == nil else { return }
        retryingPerOrigin[origin, default: 0] += 1
    }

    /// Records that a download no longer waits. Does nothing for a download that did not wait.
    package mutating func doesNotWait(_ id: DownloadID) {
        guard let origin = retrying.removeValue(forKey: id) else { return }
        retryingPerOrigin[origin, default: 1] -= 1
        if retryingPerOrigin[origin] == 0 { retryingPerOrigin[origin] = nil }
        if pauses[origin]?.causes.remove(id) != nil, pauses[origin]?.causes.isEmpty == true { pauses[origin] = nil }
    }

    package var canStart: Bool { hasFreeSlot && nextIndex != nil }

    private var nextIndex: Int? {
        if !exempt.isEmpty, let index = candidates.firstIndex(where: { exempt.contains($0.id) }) { return index }
        var saturated: String?
        return candidates.firstIndex { candidate in
            if candidate.origin == saturated { return false }
            guard isSaturated(candidate.origin) else { return true }
            saturated = candidate.origin
            return false
        }
    }

    package func hasWaiting(for origin: String) -> Bool { candidates.contains { $0.origin == origin } }

    package func hasFreeSlot(for origin: String) -> Bool { hasFreeSlot && !isSaturated(origin) }

    /// Takes the downloads that would start next, up to the first one that has another origin or does not satisfy
    /// `isMeant`. They begin later in slots of the same origin.
    /// - Parameter origin: The origin, or nil for the origin of the first candidate.
    package mutating func next(_ limit: Int, of origin: String?, where isMeant: (DownloadID) -> Bool) -> [DownloadID] {
        guard let origin = origin ?? candidates.first?.origin, let count = perOrigin[origin], holds[origin] == nil,
            pauses[origin] == nil,
            count <= self.limit(origin), running.count <= most, retrying.count < Self.retryingAtMost,
            retryingPerOrigin[origin, default: 0] < Self.retryingPerOriginAtMost
        else { return [] }
        let taken = candidates.prefix(limit).prefix { $0.origin == origin && isMeant($0.id) }.map(\.id)
        candidates.removeFirst(taken.count)
        return taken
    }

    /// Returns whether a waiting download would start before this download.
    package func hasOneBefore(_ id: DownloadID, priority: Int) -> Bool {
        candidates.first.map { !$0.follows(id, priority: priority) } ?? false
    }

    /// Takes a slot for a download that is not a candidate.
    package mutating func begin(_ slot: Slot, of origin: String) {
        running[slot] = origin
        perOrigin[origin, default: 0] += 1
    }

    /// Gives another number to a slot.
    package mutating func pass(from slot: Slot, to next: Slot) {
        running[next] = running.removeValue(forKey: slot)
    }

    package mutating func add(_ candidate: Candidate) {
        // Most candidates come in order, so the search begins at the end.
        let before = candidates.lastIndex { !$0.follows(candidate.id, priority: candidate.priority) }
        candidates.insert(candidate, at: before.map { $0 + 1 } ?? candidates.startIndex)
    }

    package mutating func remove(_ id: DownloadID) {
        candidates.removeAll { $0.id == id }
        exempt.remove(id)
    }

    package mutating func removeAllCandidates() { candidates = [] }

    /// Takes the next download that the limits allow. The download has a slot until ``ended(_:)``.
    package mutating func start() -> DownloadID? {
        guard hasFreeSlot, let index = nextIndex else { return nil }
        let candidate = candidates.remove(at: index)
        exempt.remove(candidate.id)
        begin(candidate.id, of: candidate.origin)
        return candidate.id
    }

    /// Prevents starts from this origin before `instant`. Running downloads continue. The small files that are ready
    /// (``SmallFileQueue``) begin without the scheduler, so a hold does not stop them. A caller that must stop them,
    /// too, puts them back into the queue with ``SharedBook/recallReady()``.
    package mutating func hold(_ origin: String, until instant: ContinuousClock.Instant) {
        holds[origin] = max(holds[origin] ?? instant, instant)
    }

    // MARK: Pauses that servers ask for

    /// Records that a server asked for a pause. A later answer makes the pause longer, and never shorter.
    package mutating func pause(_ origin: String, _ pause: Pause) {
        var whole = pauses[origin] ?? pause
        whole.end = max(whole.end, pause.end)
        whole.status = pause.status
        whole.causes.formUnion(pause.causes)
        pauses[origin] = whole
    }

    /// Lets downloads that wait for the end of a pause start now. The limit of downloads for their origin does not
    /// apply to them. Does nothing for other downloads.
    package mutating func startDespitePause(_ ids: [DownloadID]) {
        if pauses.isEmpty { return }
        let meant = Set(ids)
        exempt.formUnion(candidates.filter { meant.contains($0.id) && pauses[$0.origin] != nil }.map(\.id))
    }

    /// Ends the pause of an origin, because the server has served a download.
    package mutating func endPause(of origin: @autoclosure () -> String) {
        if !pauses.isEmpty { pauses[origin()] = nil }
    }

    /// The earliest time at which downloads may start again from an origin that is held back; nil if no origin is held
    /// back.
    package var earliestRelease: ContinuousClock.Instant? {
        [holds.values.min(), pauses.values.map(\.end).min()].compactMap(\.self).min()
    }

    /// Lets downloads start again from origins whose waiting time is over. Returns whether there were any.
    package mutating func releaseHolds(at now: ContinuousClock.Instant) -> Bool {
        let count = holds.count + pauses.count
        if !holds.isEmpty { holds = holds.filter { $0.value > now } }
        if !pauses.isEmpty { pauses = pauses.filter { $0.value.end > now } }
        return holds.count + pauses.count < count
    }

    /// Frees the slot of a download whose transfers are over. Does nothing when called again.
    package mutating func ended(_ slot: Slot) {
        guard let origin = running.removeValue(forKey: slot) else { return }
        perOrigin[origin, default: 1] -= 1
        if perOrigin[origin] == 0 { perOrigin[origin] = nil }
    }
}
