import Foundation

/// From the queue to the beginning of an attempt.
extension SessionBook {
    /// Records of the queue that are in memory beside those that run; twice as many at the most.
    static let windowSize = 256
    /// Records that are fetched past those that wait for busy origins.
    static let beyondSize = 64
    /// Whole files on their way to their names; each has descriptors open.
    static let finishingLimit = 128
    /// Downloads that are parked, or go on, in one call to the store.
    static let partSize = 500

    var mayBegin: Bool { stopReason == nil && !isFinishing }

    /// Nothing in memory waits for a slot.
    var isQueueEmpty: Bool { scheduler.candidateCount == 0 }

    // MARK: Into the queue

    /// A download is queued for this session from now on. If its last attempt is about to end, it is found in the store
    /// after that.
    mutating func adopt(_ record: DownloadRecord, at date: Date) {
        switch places[record.id] {
        case .active: update(record.id) { $0.isQueuedAgain = true }
        case .queued(var queued):
            queued.timeLeft = nil
            move(record.id, to: .queued(queued))
        case .arriving, .parked, .paused, .unsaved, .changing, nil: offer(QueuedDownload(record), at: date)
        }
    }

    /// Keeps the record in memory, or leaves it to the store until there is room.
    mutating func offer(_ queued: QueuedDownload, at date: Date) {
        let id = queued.record.id
        switch places[id] {
        case .queued, .arriving, .active: return
        // Its change may settle by what the store said before.
        case .changing: return queue.leaveToStore()
        case .parked, .paused, .unsaved, nil: break
        }
        if queued.record.request.schedule != nil, queued.record.closedUntil(at: date) != nil {
            return move(id, to: .arriving(queued))
        }
        if scheduler.candidateCount >= 2 * Self.windowSize, queued.isPlain {
            queue.leaveToStore()
            let last = scheduler.last { self[queued: $0]?.isPlain ?? true }
            guard let last, last.follows(id, priority: queued.record.request.priority) else {
                return move(id, to: nil)
            }
            scheduler.remove(last.id)
            move(last.id, to: nil)
        }
        enlist(queued)
    }

    mutating func enlist(_ queued: QueuedDownload) {
        let record = queued.record
        move(record.id, to: .queued(queued))
        scheduler.add(.init(id: record.id, origin: record.source.origin, priority: record.request.priority))
    }

    // MARK: Reading the store

    var wantsQueue: Bool { isQueueEmpty && queue.mayHaveMore }

    /// Everything in memory waits for origins that are busy: downloads from others may have their turn.
    var wantsBeyond: Bool { !isQueueEmpty && queue.mayHaveMore && !scheduler.canStart }

    /// The origins to leave out; nil: without them the store has nothing new.
    var busyOrigins: Set<String>? {
        let busy = scheduler.saturatedOrigins
        return queue.isExhausted(without: busy) ? nil : busy
    }

    /// The store has answered with the next part of the queue. Returns the records that may be offered.
    mutating func didRead(_ records: [DownloadRecord]) -> [DownloadRecord] {
        queue.didRead(records, limit: Self.windowSize)
        return withoutComing(records).filter { !queue.isOutdated($0) }
    }

    /// The store has answered with what waits for other origins than these. Returns the records that may be enlisted.
    mutating func didRead(_ records: [DownloadRecord], without busy: Set<String>) -> some Collection<DownloadRecord> {
        queue.endReading()
        let new = withoutComing(records).filter { !queue.isOutdated($0) && isIdle($0.id) }
        if new.isEmpty { queue.foundNothing(without: busy) }
        return new.prefix(Self.beyondSize)
    }

    /// Leaves out those that another call is about to offer, and has the store asked again for the case that it does not.
    private mutating func withoutComing(_ records: [DownloadRecord]) -> [DownloadRecord] {
        if !records.contains(where: isComing) { return records }
        queue.leaveToStore()
        return records.filter { !isComing($0) }
    }

    private func isComing(_ record: DownloadRecord) -> Bool {
        isChanging(record.id) || queue.isBeingAdded(record)
    }

    /// Neither waits for a slot nor has one, and nobody changes it.
    func isIdle(_ id: DownloadID) -> Bool {
        switch places[id] {
        case .parked, .paused, .unsaved, nil: true
        case .queued, .arriving, .active, .changing: false
        }
    }

    // MARK: Out of the queue

    /// What the next download in the queue is to do.
    enum Start {
        /// The caller begins an attempt, and reports it at once: ``begin(_:)``.
        case attempt(QueuedDownload)
        /// Its schedule forbids it to run; this record is to be saved: ``park(_:)``.
        case parking(DownloadRecord)
    }

    /// Something may begin, and there is a slot for it.
    var hasRoom: Bool { mayBegin && scheduler.hasFreeSlot && finishingCount < Self.finishingLimit }

    /// Gives the next download a slot.
    mutating func start(at date: Date, now: ContinuousClock.Instant) -> Start? {
        guard mayBegin, let id = scheduler.start() else { return nil }
        guard let queued = self[queued: id] else {
            assertionFailure("a candidate without a place")
            scheduler.ended(id)
            return nil
        }
        if let until = queued.record.closedUntil(at: date) {
            scheduler.ended(id)
            move(id, to: .changing(from: .queued(queued)))
            return .parking(queued.record.waiting(until: until))
        }
        if let pause = queued.record.request.pacing {
            scheduler.hold(queued.record.source.origin, until: now + .seconds(pause))
        }
        return .attempt(queued)
    }

    /// An attempt has begun, or is ready to begin in the slot of a small file.
    mutating func begin(_ active: ActiveDownload) { move(active.record.id, to: .active(active)) }

    /// The next downloads of one origin whose slots are all in use; each is to be made ready: ``begin(_:)``.
    /// - Parameters:
    ///   - origin: nil: that of the first download in the queue.
    ///   - prepare: Returns the record with which the download is made ready; nil ends the search.
    mutating func takeNext(
        _ limit: Int, of origin: String?, _ prepare: (DownloadRecord) -> DownloadRecord?
    ) -> [DownloadRecord] {
        var taken: [DownloadRecord] = []
        _ = scheduler.next(limit, of: origin) { [places] id in
            guard case .queued(let queued)? = places[id], queued.isPlain, let record = prepare(queued.record) else {
                return false
            }
            taken.append(record)
            return true
        }
        return taken
    }

    // MARK: Schedules

    var hasArrivals: Bool { !arrivals.isEmpty }

    /// Takes the next downloads that came at the wrong time. Their records are to be saved: ``park(_:)``.
    mutating func takeArrivals(at date: Date) -> [DownloadRecord] {
        let ids = arrivals.prefix(Self.partSize)
        arrivals.removeFirst(ids.count)
        var closed: [DownloadRecord] = []
        for id in ids {
            guard case .arriving(let queued)? = places[id] else { continue }
            if let until = queued.record.closedUntil(at: date) {
                move(id, to: .changing(from: .arriving(queued)))
                closed.append(queued.record.waiting(until: until))
            } else {
                move(id, to: nil)
                offer(queued, at: date)
            }
        }
        return closed
    }

    /// The place of a download that has been saved as waiting for its schedule.
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

    /// Takes parked downloads that are due, a part of them if they are many.
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

    /// Finds out when the next parked downloads are due, after some have gone on.
    mutating func lookForNextDue() {
        nextDue = parked.map(\.until).min()
    }
}

extension DownloadRecord {
    fileprivate func waiting(until: Date) -> DownloadRecord {
        var record = self
        record.move(to: .waiting(.schedule, until: until))
        return record
    }
}
