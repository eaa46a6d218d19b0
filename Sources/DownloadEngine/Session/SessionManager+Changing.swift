import DownloadCore
import DownloadSystem

/// Changes of downloads, and the downloads that wait for their schedules.
extension SessionManager {
    /// Changes downloads that are not active and that no other caller changes.
    /// - Returns: The downloads for which the change made a difference.
    func changeIdle(_ ids: [DownloadID], _ change: DownloadChange) async throws -> Set<DownloadID> {
        if ids.isEmpty { return [] }
        book.all.beginChange(of: ids)
        let records: [DownloadRecord]
        let results: [ChangedRecord]
        do {
            records = try await store.records(.ids(ids))
            results = try await store.change(ids, change, session: identifier)
        } catch {
            book.entered.cancelChange(of: ids, at: parts.time.date)
            await fill()
            throw error
        }
        for (old, result) in zip(records, results) {
            if result.didChange { keepSecrets(of: old, after: change) }
            settle(result, change)
        }
        return Set(results.filter(\.didChange).map(\.record.id))
    }

    private func settle(_ result: ChangedRecord, _ change: DownloadChange) {
        var record = result.record
        secrets.restore(&record)
        book.entered.endChange(to: record, by: change, didChange: result.didChange, at: parts.time.date)
        guard result.didChange else { return }
        let snapshot = DownloadSnapshot(record: record)
        switch change {
        case .pause: broadcaster.send(.didPause(snapshot))
        case .cancel: broadcaster.send(.didCancel(snapshot))
        case .priority, .rateLimit, .url, .mirrors: broadcaster.send(.didChange(snapshot))
        }
    }

    /// Changes a download that was active when the caller looked at it.
    func changeRunning(_ id: DownloadID, _ change: DownloadChange) async throws -> Bool {
        while true {
            try await waitForChanges(of: [id])
            guard let active = book.all[active: id] else { return try await !changeIdle([id], change).isEmpty }
            switch change {
            case .pause: stop(id, .pause(.user))
            case .cancel: stop(id, .cancel)
            case .url, .mirrors: stop(id, .change(change))
            case .priority, .rateLimit:
                if active.isBackingOff { return await changeBackingOff(id, change) }
                if let didChange = await active.control.change(change) {
                    book.entered.update(id) { _ = $0.record.apply(change) }
                    if didChange { broadcaster.send(.didChange(DownloadSnapshot(record: active.control.record))) }
                    return didChange
                }
            }
            let left = await wait(book.entered.waitForEnd(of: id, active.control))
            if let failure = book.entered[unsaved: id]?.failure { throw failure }
            if let left, Self.shows(left, change) { return true }
        }
    }

    /// Returns whether a download that was stopped for a change now shows the change. The end of the download, or the
    /// change of another caller, may have come first.
    private static func shows(_ record: DownloadRecord, _ change: DownloadChange) -> Bool {
        switch change {
        case .pause: record.state == .paused(.user)
        case .cancel: record.state == .cancelled
        case .url(let url, _): record.state.kind.isActive && record.request.url == url
        case .mirrors(let mirrors): record.state.kind.isActive && record.request.mirrors == mirrors
        case .priority, .rateLimit: false
        }
    }

    /// Changes a download between two attempts. The download keeps waiting even if the store fails, because its next
    /// save may succeed.
    private func changeBackingOff(_ id: DownloadID, _ change: DownloadChange) async -> Bool {
        guard let record = book.entered.beginSavingChange(of: id, change) else { return false }
        book.entered[active: id]?.control.show(record)
        _ = await save(record)
        if book.entered.endSavingChange(of: id) { await delayEnded(id) }
        broadcaster.send(.didChange(DownloadSnapshot(record: record)))
        return true
    }

    /// Keeps the secrets that still belong to the request at its new URL.
    private func keepSecrets(of record: DownloadRecord, after change: DownloadChange) {
        guard case .url = change else { return }
        var full = record
        secrets.restore(&full)
        _ = full.apply(change)
        secrets.keep(full)
    }

    /// Returns once no caller changes any of these downloads in the store, and the store has saved how they ended. A
    /// different attempt may be active then. Throws if the store cannot save the end of one of them. Otherwise the
    /// change would be made to a record that knows nothing of a complete small file.
    func waitForChanges(of ids: [DownloadID]) async throws {
        while true {
            if let waiter = book.entered.waitForChanges(of: ids) {
                await wait(waiter)
            } else if book.entered.unsavedCount > 0, ids.contains(where: { book.entered[unsaved: $0] != nil }) {
                try await saveUnsaved()
            } else {
                return
            }
        }
    }

    // MARK: Stopping

    /// Stops an attempt, or ends the delay between two attempts. Without a reason, the download is paused with the
    /// reason of the session's end.
    func stop(_ id: DownloadID, _ reason: StopReason? = nil) {
        guard let active = book.entered.stop(id, reason) else { return }
        active.control.stop()
        if active.isBackingOff { active.timer?.cancel() }
    }

    func stopped(_ stopped: DownloadRecord, _ reason: StopReason?) async {
        var record = stopped
        switch reason {
        case nil: await pause(record, book.entered.endReason ?? .user)
        case .pause(let reason): await pause(record, reason)
        case .cancel:
            record.move(to: .cancelled)
            record.leaveForeground()
            let saved = await save(record)
            leave(saved)
            announce(saved.record, DownloadEvent.didCancel)
        case .remove:
            record.move(to: .paused(.user))
            leave(await save(record))
        case .park:
            record.move(to: .waiting(.schedule, until: record.closedUntil(at: parts.time.date) ?? parts.time.date))
            await park([record])
        case .change(let change):
            _ = record.apply(change)
            secrets.keep(record)
            if let reason = book.entered.endReason { return await pause(record, reason) }
            record.move(to: .queued)
            let saved = await save(record)
            leave(saved)
            announce(saved.record, DownloadEvent.didChange)
            if saved.record.state == .queued { book.entered.offer(QueuedDownload(saved.record), at: parts.time.date) }
        }
    }

    /// Sends the event of a record, or a failure if the store could not save the record.
    func announce(_ record: DownloadRecord, _ event: (DownloadSnapshot) -> DownloadEvent) {
        let snapshot = DownloadSnapshot(record: record)
        broadcaster.send(record.failure.map { .didFail(snapshot, $0) } ?? event(snapshot))
    }

    /// Saves a download as paused that was stopped, or that cannot continue because the session ends. A foreground
    /// session keeps a download that it has paused on command. `DownloadRecord.apply(_:for:at:)` has the same rule for
    /// downloads that the store pauses, because no attempt runs.
    func pause(_ running: DownloadRecord, _ reason: DownloadState.PauseReason) async {
        var record = running
        record.move(to: .paused(reason))
        let stays = reason == .user && isForeground && book.entered.endReason == nil
        if !stays { record.leaveForeground() }
        FaultPoint.reached("pausing")
        let saved = await save(record)
        FaultPoint.reached("paused")
        leave(saved, to: stays && saved.record.failure == nil ? .paused(saved.record) : nil)
        announce(saved.record, DownloadEvent.didPause)
    }

    // MARK: Records that the store could not save

    struct Saved {
        /// The record, in the failed state if the store could not save it.
        var record: DownloadRecord
        /// Whether the store failed, so that the record must be saved again.
        var isUnsaved = false
    }

    func save(_ record: DownloadRecord) async -> Saved {
        var saved = Saved(record: record)
        saved.record.updated = parts.time.date
        do {
            if try await store.save([saved.record], session: identifier).contains(record.id) {
                saved.record.state = .failed(.sessionUnavailable(.ownedElsewhere(record.id, session: "another")))
                saved.record.session = nil
            }
        } catch {
            saved.record.state = .failed(error as? DownloadError ?? .unexpected("\(error)"))
            saved.record.leaveForeground()
            saved.isUnsaved = true
        }
        return saved
    }

    /// Saves the records that the store could not save before. Otherwise the store would show downloads as running
    /// although no session runs them.
    func saveUnsaved() async throws {
        while let waiter = book.known.waitForUnsaved() { await wait(waiter) }
        let records = book.known.beginSavingUnsaved()
        if records.isEmpty { return }
        let ids = records.map(\.id)
        do {
            _ = try await store.save(records, session: identifier)
        } catch {
            book.known.endClaim(of: ids)
            throw error
        }
        book.known.forget(ids)
        if records.contains(where: { DueHook($0) != nil }) { hooks.look() }
    }

    /// Keeps the records of complete files that the store did not save as completed. The store marks them as finishing,
    /// so the next process that looks at the files finds them complete. The store is asked again until it saves them.
    func keepUnrecorded(_ records: [DownloadRecord], _ error: DownloadError) {
        for record in records { book.entered.keepUnsaved(record) }
        guard let first = records.first else { return }
        let what = records.count == 1 ? "\(first.id): \(first.displayName) is" : "\(records.count) downloads are"
        parts.notice("\(what) complete, but not recorded as such: \(error)")
    }

    // MARK: Schedules

    func park(_ records: [DownloadRecord]) async {
        if let reason = book.entered.endsAll {
            for record in records { await pause(record, reason) }
            return
        }
        for saved in await save(records) {
            let place = book.entered.parkedPlace(saved.record, now: parts.time.now)
            leave(saved, to: place)
            announce(saved.record, DownloadEvent.didPostpone)
        }
    }

    func parkArrivals() async {
        while book.known.hasArrivals { await park(book.known.takeArrivals(at: parts.time.date)) }
    }

    /// Saves records in one transaction, or one by one if that fails.
    private func save(_ records: [DownloadRecord]) async -> [Saved] {
        if records.isEmpty { return [] }
        var stamped = records
        for index in stamped.indices { stamped[index].updated = parts.time.date }
        if let lost = try? await store.save(stamped, session: identifier), lost.isEmpty {
            return stamped.map { Saved(record: $0) }
        }
        var saved: [Saved] = []
        for record in records { saved.append(await save(record)) }
        return saved
    }

    /// Applies schedules and the rate timetable. Called twice a second. The wall clock is used, because it may be set
    /// and the machine may sleep.
    func keepTimes() async {
        let now = parts.time.date
        if let change = pulse.rateClock.change(at: now) { rateLimit.bytesPerSecond = change }
        for id in book.known.closing(at: now) { stop(id, .park) }
        let due = book.known.takeDue(at: now)
        if due.isEmpty { return }
        await goOn(due)
        book.known.lookForNextDue()
        await fill()
    }

    private func goOn(_ ids: [DownloadID]) async {
        let (waiting, failed) = await waitingForTime(ids)
        book.entered.endClaim(of: failed)
        var queued = waiting
        for index in queued.indices {
            secrets.restore(&queued[index])
            queued[index].move(to: .queued)
        }
        for saved in await save(queued) {
            if let failure = saved.record.failure {
                leave(saved)
                broadcaster.send(.didFail(DownloadSnapshot(record: saved.record), failure))
            } else {
                book.entered.endChange(to: saved.record, at: parts.time.date)
            }
        }
    }

    /// Returns the downloads that the store still shows as waiting for their schedules, and the ids of downloads that
    /// the store could not read. The book forgets the others.
    private func waitingForTime(_ ids: [DownloadID]) async -> (records: [DownloadRecord], failed: [DownloadID]) {
        var (records, failed): ([DownloadRecord], [DownloadID]) = ([], [])
        if let all = try? await store.records(.ids(ids)) {
            records = all
        } else {
            // A download is gone from the store, or the store fails, so the records are read one by one.
            for id in ids {
                do { records += try await store.records(.ids([id])) } catch DownloadError.noSuchDownload {
                    continue
                } catch { failed.append(id) }
            }
        }
        records = records.filter { record in
            if case .waiting(.schedule, _) = record.state { record.session == identifier } else { false }
        }
        let known = Set(records.map(\.id) + failed)
        book.entered.forget(ids.filter { !known.contains($0) })
        return (records, failed)
    }

    /// Pauses the parked downloads at the end of the session. The session that continues them checks their schedules
    /// again.
    func pauseParked(_ reason: DownloadState.PauseReason) async {
        var ids = book.entered.takeParked()[...]
        while !ids.isEmpty {
            let part = Array(ids.prefix(SessionBook.partSize))
            ids = ids.dropFirst(part.count)
            var (records, failed) = await waitingForTime(part)
            book.entered.forget(failed)
            for index in records.indices {
                records[index].move(to: .paused(reason))
                records[index].leaveForeground()
            }
            for saved in await save(records) {
                leave(saved)
                broadcaster.send(.didPause(DownloadSnapshot(record: saved.record)))
            }
        }
    }
}
