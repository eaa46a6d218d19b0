import DownloadCore
import Foundation

/// Changes of downloads in the store. Only one caller at a time changes a download.
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

    /// Adds a waiter for the end of a change of any of these downloads. When the waiter is answered, the caller must
    /// look at the downloads again. Returns nil if none of them is being changed.
    mutating func waitForChanges(of ids: [DownloadID]) -> Waiter? {
        guard ids.contains(where: isChanging) else { return nil }
        let waiter = waiters.add()
        waiters.changes.append(waiter)
        return waiter
    }

    /// Reserves downloads, so that only the caller changes them in the store. Reserved downloads do not start. Active
    /// downloads are not reserved.
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

    /// Reserves downloads that will be queued again, like ``beginChange(of:)``. Downloads that already wait for a slot
    /// keep waiting, and other callers can change them. Returns the downloads that are reserved until
    /// ``endClaim(of:)``.
    mutating func beginClaim(of ids: [DownloadID]) -> [DownloadID] {
        let taken = ids.filter(isIdle)
        beginChange(of: taken)
        return taken
    }

    /// Ends a change that the store has made, or that made no difference, and gives the download its place.
    /// - Parameter change: The change; nil if the schedule lets the download run now, and the store shows it as queued.
    mutating func endChange(
        to record: DownloadRecord, by change: DownloadChange? = nil, didChange: Bool = true, at date: Date
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
        let stays = didChange && change == .pause && isForeground && isOurs && endReason == nil
        move(record.id, to: stays ? .paused(record) : nil)
    }

    private mutating func release(_ id: DownloadID, into queued: QueuedDownload, at date: Date) {
        move(id, to: nil)
        offer(queued, at: date)
    }

    /// Ends changes that failed in the store. The downloads get their former places. The store is read again, because
    /// downloads may have been passed over meanwhile.
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

    /// Ends the changes of downloads that are now only in the store, or are gone from it.
    mutating func forget(_ ids: some Sequence<DownloadID>) {
        for id in ids {
            if case .changing? = places[id] { move(id, to: nil) }
        }
    }

    /// Ends a claim. Downloads that were not queued get their former places.
    mutating func endClaim(of ids: [DownloadID]) {
        for id in ids {
            guard case .changing(let before)? = places[id] else { continue }
            move(id, to: before)
            // The store may have answered that the download is queued, and the book skipped that answer as out of date.
            if before == nil { queue.leaveToStore() }
        }
    }

    /// Queues a download that the session has claimed and that was reserved for the caller.
    mutating func claimed(_ record: DownloadRecord, at date: Date) {
        guard case .changing? = places[record.id] else { return _ = adopt(DownloadEntry(record), at: date) }
        release(record.id, into: QueuedDownload(record), at: date)
    }

    /// Records that a download was added as paused. A foreground session keeps running until the download is resumed.
    mutating func addPaused(_ record: DownloadRecord) {
        guard isForeground, isIdle(record.id) else { return }
        move(record.id, to: .paused(record))
    }

    // MARK: Changes between two attempts

    /// Applies a change between two attempts. Returns the record to be saved, or nil if the change makes no difference.
    mutating func beginSavingChange(of id: DownloadID, _ change: DownloadChange) -> DownloadRecord? {
        guard var active = self[active: id], active.stage == .backingOff, active.record.apply(change) else {
            return nil
        }
        active.stage = .savingChange(delayIsOver: false)
        move(id, to: .active(active))
        return active.record
    }

    /// Ends the saving of a change. Returns whether the delay ended meanwhile, in which case the caller must report its
    /// end again.
    mutating func endSavingChange(of id: DownloadID) -> Bool {
        guard let active = self[active: id], case .savingChange(let delayIsOver) = active.stage else { return false }
        update(id) { $0.stage = .backingOff }
        return delayIsOver
    }

    // MARK: Records that the store could not save

    /// Reserves the downloads with unsaved records, and returns the records. The caller saves them, and then reports
    /// ``forget(_:)``, or ``endClaim(of:)`` if the store failed again. A download that was not reserved could be queued
    /// and run again before its old record is saved.
    mutating func beginSavingUnsaved() -> [DownloadRecord] {
        if unsavedCount == 0 { return [] }
        let records = places.values.compactMap { if case .unsaved(let record) = $0 { record } else { nil } }
        savedAgain = records.map(\.id)
        beginChange(of: savedAgain)
        return records
    }

    /// Adds a waiter for the end of the save of unsaved records. Returns nil if none is being saved.
    mutating func waitForUnsaved() -> Waiter? {
        savedAgain.removeAll { if case .changing(.unsaved)? = places[$0] { false } else { true } }
        return waitForChanges(of: savedAgain)
    }

    /// Keeps the record of a complete file that the store could not save as completed. The caller tries the save again
    /// later.
    mutating func keepUnsaved(_ record: DownloadRecord) {
        switch places[record.id] {
        case .active: update(record.id) { $0.unsaved = record }
        case .parked, .paused, .unsaved, nil: move(record.id, to: .unsaved(record))
        case .queued, .arriving, .changing: break
        }
    }
}
