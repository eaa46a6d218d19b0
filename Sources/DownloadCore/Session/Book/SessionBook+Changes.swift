import Foundation

/// Changes of downloads in the store: one caller at a time for each download.
extension SessionBook {
    func isChanging(_ id: DownloadID) -> Bool {
        switch places[id] {
        case .changing: true
        case .active(let active):
            if case .savingChange = active.stage { true } else { false }
        case .queued, .arriving, .parked, .paused, .unsaved, nil: false
        }
    }

    var changing: [DownloadID] { places.keys.filter(isChanging) }

    /// A caller waits until nobody changes any of these, and looks again then. Nil: nobody does.
    mutating func waitForChanges(of ids: [DownloadID]) -> Waiter? {
        guard ids.contains(where: isChanging) else { return nil }
        let waiter = waiters.add()
        waiters.changes.append(waiter)
        return waiter
    }

    /// From now on the caller alone changes these in the store, and they do not start. Active ones stay as they are.
    mutating func beginChange(of ids: [DownloadID]) {
        for id in ids {
            let place = places[id]
            switch place {
            case .active, .changing: continue
            case .queued: scheduler.remove(id)
            case .arriving, .parked, .paused, .unsaved, nil: break
            }
            queue.depart(id)
            move(id, to: .changing(from: place))
        }
    }

    /// As ``beginChange(of:)``, for downloads that are to be queued again. What waits for a slot goes on doing so, and may be
    /// changed by others meanwhile. Returns those that the caller has alone, until ``endClaim(of:)``.
    mutating func beginClaim(of ids: [DownloadID]) -> [DownloadID] {
        let taken = ids.filter(isIdle)
        beginChange(of: taken)
        return taken
    }

    /// The store has made a change, or there was nothing to change.
    mutating func endChange(
        to record: DownloadRecord, by change: DownloadChange, didChange: Bool, at date: Date
    ) {
        guard case .changing(let before)? = places[record.id] else { return }
        let (state, isOurs) = (record.state, record.session == identifier)
        var queued = QueuedDownload(record)
        switch before {
        case .queued(let last), .arriving(let last):
            (queued.failures, queued.timeLeft) = (last.failures, last.timeLeft)
            if state.kind.isActive { return release(record.id, into: queued, at: date) }
        case .parked where state.kind == .waiting: return move(record.id, to: before)
        case .parked(let parked): queued.timeLeft = parked.timeLeft
        case .paused where state == .paused(.user): return move(record.id, to: .paused(record))
        case .unsaved where !didChange: return move(record.id, to: before)
        case .paused, .unsaved, .active, .changing, nil: break
        }
        if state == .queued, isOurs { return release(record.id, into: queued, at: date) }
        let stays = didChange && change == .pause && isForeground && isOurs && stopReason == nil
        move(record.id, to: stays ? .paused(record) : nil)
    }

    private mutating func release(_ id: DownloadID, into queued: QueuedDownload, at date: Date) {
        move(id, to: nil)
        offer(queued, at: date)
    }

    /// The store has not changed these: they are where they were before, and what was passed over meanwhile is asked for
    /// again.
    mutating func cancelChange(of ids: [DownloadID], at date: Date) {
        for id in ids {
            guard case .changing(let before)? = places[id] else { continue }
            switch before {
            case .queued(let queued), .arriving(let queued): release(id, into: queued, at: date)
            case .parked, .paused, .unsaved, .active, .changing, nil: move(id, to: before)
            }
        }
        queue.leaveToStore()
    }

    /// These are in the store alone, or are gone from it.
    mutating func forget(_ ids: some Sequence<DownloadID>) {
        for id in ids {
            if case .changing? = places[id] { move(id, to: nil) }
        }
    }

    /// A claim is over: those that it has not queued are where they were before.
    mutating func endClaim(of ids: [DownloadID]) {
        for id in ids {
            guard case .changing(let before)? = places[id] else { continue }
            move(id, to: before)
            // It may be queued in the store, in an answer that counts as out of date now.
            if before == nil { queue.leaveToStore() }
        }
    }

    /// The session has claimed a download that the caller had alone.
    mutating func claimed(_ record: DownloadRecord, at date: Date) {
        if case .changing? = places[record.id] { move(record.id, to: nil) }
        adopt(record, at: date)
    }

    /// A download is paused, and begins when somebody resumes it, for which a foreground session stays.
    mutating func addPaused(_ record: DownloadRecord) {
        guard isForeground, isIdle(record.id) else { return }
        move(record.id, to: .paused(record))
    }

    /// A download that waited for its schedule is queued again in the store.
    mutating func goOn(_ record: DownloadRecord, at date: Date) {
        guard case .changing(let before)? = places[record.id] else { return }
        var queued = QueuedDownload(record)
        if case .parked(let parked) = before { queued.timeLeft = parked.timeLeft }
        release(record.id, into: queued, at: date)
    }

    // MARK: Changes between two attempts

    /// Changes a download between two attempts. Returns its record to be saved, unless that makes no difference.
    mutating func beginSavingChange(of id: DownloadID, _ change: DownloadChange) -> DownloadRecord? {
        guard var active = self[active: id], active.stage == .backingOff, active.record.apply(change) else {
            return nil
        }
        active.stage = .savingChange(delayIsOver: false)
        move(id, to: .active(active))
        return active.record
    }

    /// Returns whether the delay was over meanwhile; the caller reports that anew.
    mutating func endSavingChange(of id: DownloadID) -> Bool {
        guard let active = self[active: id], case .savingChange(let delayIsOver) = active.stage else { return false }
        update(id) { $0.stage = .backingOff }
        return delayIsOver
    }

    // MARK: What the store could not take

    /// The store has these now.
    mutating func saved(_ records: [DownloadRecord]) {
        for record in records where self[unsaved: record.id]?.updated == record.updated { move(record.id, to: nil) }
    }

    /// Files that are complete, and that the store did not take as such. They stay complete, and it is asked again.
    mutating func keepUnsaved(_ record: DownloadRecord) {
        switch places[record.id] {
        case .active: update(record.id) { $0.unsaved = record }
        case .parked, .paused, .unsaved, nil: move(record.id, to: .unsaved(record))
        case .queued, .arriving, .changing: break
        }
    }
}
