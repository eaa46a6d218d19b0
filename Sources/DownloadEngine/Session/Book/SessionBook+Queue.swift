import DownloadCore
import Foundation

/// The events from the queue to the beginning of an attempt.
extension SessionBook {
    /// The number of queued downloads that are read from the store at a time.
    static let windowSize = 256
    /// The maximum number of records that are taken at a time from other origins than the busy ones.
    static let beyondSize = 64
    /// The maximum number of complete files that wait for their final names. Each of them has open descriptors.
    static let finishingLimit = 128
    /// The maximum number of downloads that are parked or resumed in one call to the store.
    static let partSize = 500

    var mayBegin: Bool { endReason == nil && !isDraining }

    /// Whether no download in memory waits for a slot.
    var isQueueEmpty: Bool { scheduler.candidates.isEmpty }

    // MARK: Into the queue

    /// Records that a download is queued for this session. If its last attempt is about to end, the download is read
    /// from the store after the end.
    /// - Returns: See ``offer(_:at:)``.
    @discardableResult
    mutating func adopt(_ entry: DownloadEntry, at date: Date) -> Bool {
        switch places[entry.id] {
        case .active: update(entry.id) { $0.isQueuedAgain = true }
        case .queued(var queued):
            queued.timeLeft = nil
            move(entry.id, to: .queued(queued))
        case .arriving, .parked, .paused, .unsaved, .changing, nil:
            // The download may have been stopped since the store queued it, so the store is read.
            if !queue.isOutdated(entry) { return offer(QueuedDownload(entry), at: date) }
            queue.leaveToStore()
        }
        return true
    }

    mutating func adopt(_ record: DownloadRecord, at date: Date) { adopt(DownloadEntry(record), at: date) }

    /// Keeps the record in memory, or leaves it in the store until there is room in memory.
    /// - Returns: False if memory is full of downloads that precede this one. Then downloads that follow it are left to
    ///   the store as well, and need not be offered.
    @discardableResult
    mutating func offer(_ queued: QueuedDownload, at date: Date) -> Bool {
        let id = queued.entry.id
        switch places[id] {
        case .queued, .arriving, .active: return true
        // The caller that makes the change may settle it with an older answer of the store, so the store is read again.
        case .changing:
            queue.leaveToStore()
            return true
        case .parked, .paused, .unsaved, nil: break
        }
        if queued.closedUntil(at: date) != nil {
            move(id, to: .arriving(queued))
            return true
        }
        if scheduler.candidates.count >= mostQueued, queued.isPlain {
            let last = scheduler.candidates.last { self[queued: $0.id]?.isPlain ?? true }
            guard let last, last.follows(id, priority: queued.entry.priority), let left = self[queued: last.id] else {
                queue.leaveToStore(queued.entry)
                move(id, to: nil)
                return false
            }
            queue.leaveToStore(left.entry)
            scheduler.remove(last.id)
            move(last.id, to: nil)
        }
        enlist(queued)
        return true
    }

    mutating func enlist(_ queued: QueuedDownload) {
        let entry = queued.entry
        move(entry.id, to: .queued(queued))
        scheduler.add(.init(id: entry.id, origin: entry.origin, priority: entry.priority))
    }

    // MARK: Reading the store

    var wantsQueue: Bool { isQueueEmpty && queue.isReadable }

    /// Whether all downloads in memory wait for busy origins, so that downloads from other origins may be next.
    var wantsBeyond: Bool { !isQueueEmpty && queue.isReadable && !scheduler.canStart }

    /// The busy origins, which are left out when the store is asked for more downloads. Nil if the store is known to
    /// have no downloads of other origins.
    var busyOrigins: Set<String>? {
        let busy = scheduler.saturatedOrigins
        return queue.isExhausted(without: busy) ? nil : busy
    }

    /// Handles the store's answer with the next part of the queue. Returns the entries that may be offered.
    mutating func didRead(_ entries: [DownloadEntry]) -> [DownloadEntry] {
        queue.didRead(entries, limit: Self.windowSize)
        return withoutComing(entries).filter { !queue.isOutdated($0) }
    }

    /// Handles the store's answer with downloads from other origins than the busy ones. Returns the entries that may be
    /// put into the queue.
    mutating func didRead(_ entries: [DownloadEntry], without busy: Set<String>) -> some Collection<DownloadEntry> {
        queue.endReading()
        let new = withoutComing(entries).filter { !queue.isOutdated($0) && isIdle($0.id) }
        if new.isEmpty { queue.foundNothing(without: busy) }
        return new.prefix(Self.beyondSize)
    }

    /// Leaves out the entries that another call may be about to offer, and those of unsettled downloads. The store is
    /// read again later, in case the other call does not offer them.
    private mutating func withoutComing(_ entries: [DownloadEntry]) -> [DownloadEntry] {
        if queue.additions == 0, !entries.contains(where: { isUnsettled($0.id) }) { return entries }
        queue.leaveToStore()
        return queue.additions > 0 ? [] : entries.filter { !isUnsettled($0.id) }
    }

    /// Returns whether the store may show an older state of the download, because a caller changes it or its end is not
    /// saved. A small file whose end is not saved is still queued in the store, even if the file is complete.
    private func isUnsettled(_ id: DownloadID) -> Bool { isChanging(id) || self[unsaved: id] != nil }

    /// Returns whether the download has no slot, waits for no slot, and is not being changed.
    func isIdle(_ id: DownloadID) -> Bool {
        switch places[id] {
        case .parked, .paused, .unsaved, nil: true
        case .queued, .arriving, .active, .changing: false
        }
    }

    // MARK: Out of the queue

    /// The step that the next download in the queue needs.
    enum Start {
        /// The caller begins an attempt, and reports it at once by ``begin(_:)``.
        case attempt(QueuedDownload)
        /// The schedule forbids the download to run. The caller saves this record by ``SessionManager/park(_:)``.
        case parking(DownloadRecord)
    }

    var hasRoom: Bool { mayBegin && scheduler.hasFreeSlot && finishingCount < Self.finishingLimit }

    mutating func start(at date: Date, now: ContinuousClock.Instant) -> Start? {
        guard mayBegin, let id = scheduler.start() else { return nil }
        guard let queued = self[queued: id] else {
            assertionFailure("a candidate without a place")
            scheduler.ended(id)
            return nil
        }
        if let until = queued.closedUntil(at: date) {
            scheduler.ended(id)
            move(id, to: .changing(from: .queued(queued)))
            return .parking(queued.record.waiting(until: until))
        }
        if let pause = queued.entry.common.request.pacing {
            scheduler.hold(queued.entry.origin, until: now + .seconds(pause))
        }
        return .attempt(queued)
    }

    mutating func begin(_ active: ActiveDownload) { move(active.record.id, to: .active(active)) }

    /// Takes the next downloads of an origin that has running downloads out of the queue. They have no places
    /// afterwards.
    /// - Parameters:
    ///   - origin: The origin, or nil for the origin of the first download in the queue.
    ///   - prepare: Returns the attempt that may begin. Nil ends the search.
    mutating func takeNext<Attempt>(
        _ limit: Int, of origin: String?, _ prepare: (DownloadEntry) -> Attempt?
    ) -> [Attempt] {
        var taken: [Attempt] = []
        let ids = scheduler.next(limit, of: origin) { [places] id in
            guard case .queued(let queued)? = places[id], queued.isPlain, let attempt = prepare(queued.entry) else {
                return false
            }
            taken.append(attempt)
            return true
        }
        for id in ids { move(id, to: nil) }
        return taken
    }

    // MARK: Schedules

    var hasArrivals: Bool { !arrivals.isEmpty }

    /// Takes the next downloads whose schedules were closed when they came. The caller saves the returned records by
    /// ``SessionManager/park(_:)``.
    mutating func takeArrivals(at date: Date) -> [DownloadRecord] {
        let ids = arrivals.prefix(Self.partSize)
        arrivals.removeFirst(ids.count)
        var closed: [DownloadRecord] = []
        for id in ids {
            guard case .arriving(let queued)? = places[id] else { continue }
            if let until = queued.closedUntil(at: date) {
                move(id, to: .changing(from: .arriving(queued)))
                closed.append(queued.record.waiting(until: until))
            } else {
                move(id, to: nil)
                offer(queued, at: date)
            }
        }
        return closed
    }

    /// Returns the place of a download that was saved as waiting for its schedule.
    func parkedPlace(_ record: DownloadRecord, now: ContinuousClock.Instant) -> Place? {
        guard case .waiting(.schedule, let until?) = record.state else { return nil }
        let timeLeft: Duration? =
            switch places[record.id] {
            case .active(let active): active.deadline.map { $0 - now }
            case .changing(.queued(let queued)), .changing(.arriving(let queued)): queued.timeLeft
            default: nil
            }
        return .parked(
            ParkedDownload(until: until, progress: DownloadSnapshot(record: record).progress, timeLeft: timeLeft))
    }

    /// Takes parked downloads that are due, at most ``partSize`` of them.
    mutating func takeDue(at date: Date) -> [DownloadID] {
        guard mayBegin, let nextDue, nextDue <= date else { return [] }
        var due: [DownloadID] = []
        for (id, place) in places {
            guard case .parked(let parked) = place, parked.until <= date else { continue }
            due.append(id)
            if due.count == Self.partSize { break }
        }
        if due.isEmpty { lookForNextDue() }
        beginChange(of: due)
        return due
    }

    /// Finds out when the next parked downloads are due. Called after some were resumed.
    mutating func lookForNextDue() {
        nextDue = places.values.compactMap { if case .parked(let parked) = $0 { parked.until } else { nil } }.min()
    }
}
