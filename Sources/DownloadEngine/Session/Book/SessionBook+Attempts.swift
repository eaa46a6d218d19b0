import DownloadCore
import Foundation

/// The events from the beginning of an attempt to its end, and from there to the next attempt.
extension SessionBook {
    // MARK: Slots

    /// Lends the slot of a queued download to the small files. The download begins there, and has no place until
    /// ``enter(_:from:)``.
    mutating func lend(_ id: DownloadID, to slot: Scheduler.Slot) {
        scheduler.pass(from: id, to: slot)
        move(id, to: nil)
    }

    /// Gives a place to a small file that has begun.
    /// - Parameter slot: The slot of the file; nil if all its bytes have come.
    mutating func enter(_ file: ActiveDownload, from slot: Scheduler.Slot?) {
        var active = file
        active.stage = slot == nil ? .whole : .running
        if let slot { scheduler.pass(from: slot, to: active.record.id) }
        move(active.record.id, to: .active(active))
    }

    /// Records that all bytes of a small file have come, and that another small file uses its slot.
    mutating func passSlot(from id: DownloadID, to slot: Scheduler.Slot) {
        scheduler.pass(from: id, to: slot)
        update(id) { if $0.stage == .running { $0.stage = .whole } }
    }

    /// Records that all bytes of a small file have come, and that its slot is free.
    mutating func freeSlot(_ slot: Scheduler.Slot) {
        scheduler.ended(slot)
        update(slot) { if $0.stage == .running { $0.stage = .whole } }
    }

    /// Records that a whole small file is attempted once more, in the ordinary way. Returns whether the attempt must
    /// stop at once.
    mutating func beginAgain(_ id: DownloadID, _ control: AttemptControl) -> Bool {
        update(id) { $0.control = control }
        return self[active: id]?.stopReason != nil || endReason != nil
    }

    // MARK: The end of an attempt

    /// Records that the transfers of an attempt are over. If `control` belongs to an earlier attempt, changes nothing
    /// and returns false.
    mutating func endTransfers(of id: DownloadID, _ control: AttemptControl) -> Bool {
        guard let active = self[active: id], active.control === control else { return false }
        switch active.stage {
        case .running, .whole: update(id) { $0.stage = .finishing }
        case .finishing, .ending, .backingOff, .savingChange: break
        }
        return true
    }

    /// Records that an attempt is over and that its result is being saved. Returns the download as it was during the
    /// attempt.
    mutating func endAttempt(of id: DownloadID) -> ActiveDownload? {
        scheduler.ended(id)
        update(id) { $0.stage = .ending }
        return self[active: id]
    }

    /// The reason why a download whose attempt has ended must pause instead of continuing, or nil.
    var endsAll: DownloadState.PauseReason? { endReason ?? (isDraining ? .terminate : nil) }

    /// Records that a download has ended, was paused, or waits for its schedule. Its callers are answered.
    /// - Parameter place: The new place of the download, unless it was queued again meanwhile.
    mutating func leave(_ record: DownloadRecord, to place: Place?) {
        queue.depart(record.id)
        guard let active = self[active: record.id] else { return move(record.id, to: place) }
        if active.isQueuedAgain { queue.leaveToStore() }
        answer(active.waiters, with: record)
        move(record.id, to: active.isQueuedAgain ? nil : active.unsaved.map { .unsaved($0) } ?? place)
    }

    // MARK: Between two attempts

    /// Records that an attempt has failed and that the next one follows after a delay. Returns true if a stop was
    /// requested while the failure was being saved. In that case the delay must end at once. The stop is then applied,
    /// and its callers keep waiting.
    mutating func backOff(_ record: DownloadRecord, failures: Int, _ control: AttemptControl) -> Bool {
        let isDraining = isDraining
        update(record.id) { active in
            active.stage = .backingOff
            (active.record, active.control, active.failures) = (record, control, failures)
            active.closes = nil
            if isDraining, active.stopReason == nil { active.stopReason = .pause(.terminate) }
        }
        guard let active = self[active: record.id] else { return false }
        if endReason != nil || active.stopReason != nil { return true }
        answer(active.waiters, with: record)
        update(record.id) { $0.waiters = [] }
        return false
    }

    mutating func setTimer(of id: DownloadID, _ timer: Task<Void, Never>) { update(id) { $0.timer = timer } }

    /// Records that the delay between two attempts is over or was cut short. If the download must stop, returns it with
    /// the reason. Otherwise the download is queued.
    mutating func endDelay(
        of id: DownloadID, at date: Date, now: ContinuousClock.Instant
    ) -> (record: DownloadRecord, reason: StopReason)? {
        guard let active = self[active: id] else { return nil }
        switch active.stage {
        case .running, .whole, .finishing, .ending: return nil
        case .savingChange:
            update(id) { $0.stage = .savingChange(delayIsOver: true) }
            return nil
        case .backingOff: break
        }
        if let reason = active.stopReason ?? endReason.map({ .pause($0) }) {
            update(id) { $0.stage = .ending }
            return (active.record, reason)
        }
        var record = active.record
        record.move(to: .queued)
        answer(active.waiters, with: record)
        move(id, to: nil)
        let timeLeft = active.deadline.map { $0 - now }
        offer(QueuedDownload(record, failures: active.failures, timeLeft: timeLeft), at: date)
        return nil
    }

    // MARK: Stopping

    /// Records why an attempt must stop. The reason is nil if the whole session ends. Returns the download whose
    /// attempt the caller must stop.
    mutating func stop(_ id: DownloadID, _ reason: StopReason? = nil) -> ActiveDownload? {
        if let reason { update(id) { $0.stopReason = reason } }
        return self[active: id]
    }

    /// Adds a waiter for the end of the attempt that `control` belongs to, or of the delay after it. Returns nil if the
    /// attempt and the delay are over.
    mutating func waitForEnd(of id: DownloadID, _ control: AttemptControl) -> Waiter? {
        guard self[active: id]?.control === control else { return nil }
        let waiter = waiters.add()
        update(id) { $0.waiters.append(waiter) }
        return waiter
    }

    /// Returns the downloads that their schedules now stop.
    func closing(at date: Date) -> [DownloadID] {
        actives.compactMap { active in
            guard let closes = active.closes, closes <= date, active.stopReason == nil, active.stage == .running else {
                return nil
            }
            return active.record.id
        }
    }

    // MARK: The end of the session

    /// Empties the queue in memory. Returns the records that the store does not show as queued. The caller pauses each
    /// of them, and then reports it by ``leave(_:to:)``.
    mutating func dropQueue() -> [DownloadRecord] {
        var waiting: [DownloadRecord] = []
        for (id, place) in places {
            switch place {
            case .queued(let queued):
                move(id, to: queued.failures == nil ? nil : .changing(from: nil))
                if queued.failures != nil { waiting.append(queued.record) }
            case .arriving: move(id, to: nil)
            case .active, .parked, .paused, .unsaved, .changing: break
            }
        }
        scheduler.removeAllCandidates()
        arrivals = []
        return waiting
    }

    /// Takes all parked downloads. The caller pauses them.
    mutating func takeParked() -> [DownloadID] {
        let ids = places.compactMap { id, place in if case .parked = place { id } else { nil } }
        beginChange(of: ids)
        return ids
    }

    /// Takes the paused downloads for which a foreground session keeps running.
    mutating func takePaused() -> [DownloadRecord] {
        let records = places.values.compactMap { if case .paused(let record) = $0 { record } else { nil } }
        for record in records { move(record.id, to: nil) }
        return records
    }
}
