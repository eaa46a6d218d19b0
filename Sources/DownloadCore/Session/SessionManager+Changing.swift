import Foundation

/// Changes of downloads that wait in the store, and of those that run.
extension SessionManager {
    /// Changes what has no runner, and is not being changed.
    /// - Returns: those for which it made a difference.
    func changeIdle(_ ids: [DownloadID], _ change: DownloadChange) async throws -> Set<DownloadID> {
        if ids.isEmpty { return [] }
        let withheld = withhold(ids)
        let records: [DownloadRecord]
        let results: [ChangedRecord]
        do {
            records = try await store.records(.ids(ids))
            results = try await store.change(ids, change, session: identifier)
        } catch {
            await giveBack(ids, withheld)
            throw error
        }
        release(ids)
        for (old, result) in zip(records, results) {
            if result.didChange { keepSecrets(of: old, after: change) }
            settle(result, change, wasCandidate: withheld[old.id] != nil)
        }
        return Set(results.filter(\.didChange).map(\.record.id))
    }

    /// What follows from a change in the store.
    private func settle(_ result: ChangedRecord, _ change: DownloadChange, wasCandidate: Bool) {
        var record = result.record
        if record.state.kind != .waiting { parked[record.id] = nil }
        secrets.restore(&record)
        if held[record.id] != nil { held[record.id] = record.state == .paused(.user) ? record : nil }
        if wasCandidate && record.state.kind.isActive || record.state == .queued && record.session == identifier {
            offer(record)
        } else {
            retries[record.id] = nil
        }
        guard result.didChange else { return }
        let snapshot = DownloadSnapshot(record: record)
        switch change {
        case .pause:
            if isForeground, record.session == identifier, stopReason == nil { held[record.id] = record }
            broadcaster.send(.didPause(snapshot))
        case .cancel: broadcaster.send(.didCancel(snapshot))
        case .priority, .rateLimit, .url: broadcaster.send(.didChange(snapshot))
        }
    }

    /// Changes one that was running when it was looked at.
    func changeRunning(_ id: DownloadID, _ change: DownloadChange) async throws -> Bool {
        while true {
            await waitForChanges(of: [id])
            recallReady()
            guard let entry = entries[id] else { return try await !changeIdle([id], change).isEmpty }
            switch change {
            case .pause: stop(id, .pause(.user))
            case .cancel: stop(id, .cancel)
            case .url: stop(id, .change(change))
            case .priority, .rateLimit:
                if entry.record.state.kind == .waiting { return await changeWaiting(id, change) }
                if let didChange = await entry.control.change(change) {
                    _ = entries[id]?.record.apply(change)
                    if didChange { broadcaster.send(.didChange(DownloadSnapshot(record: entry.control.record))) }
                    return didChange
                }
            }
            let left = await waitUntilOver(id, entry.control)
            if let failure = unsaved[id]?.failure { throw failure }
            if let left, Self.shows(left, change) { return true }
        }
    }

    /// Whether a download that was stopped for a change has become what was wanted: its end, or the wish of another, may
    /// have come first.
    private static func shows(_ record: DownloadRecord, _ change: DownloadChange) -> Bool {
        switch change {
        case .pause: record.state == .paused(.user)
        case .cancel: record.state == .cancelled
        case .url(let url, _): record.state.kind.isActive && record.request.url == url
        case .priority, .rateLimit: false
        }
    }

    /// Changes one between two attempts.
    private func changeWaiting(_ id: DownloadID, _ change: DownloadChange) async -> Bool {
        guard var record = entries[id]?.record, record.apply(change) else { return false }
        entries[id]?.record = record
        entries[id]?.control.show(record)
        let saving = Task { [before = saves[id], record] in
            _ = await before?.value
            return await save(record)
        }
        saves[id] = saving
        record = await saving.value
        if saves[id] == saving { saves[id] = nil }
        // It goes on waiting, and its next save may succeed.
        unsaved[id] = nil
        broadcaster.send(.didChange(DownloadSnapshot(record: record)))
        return true
    }

    /// The secrets that still belong to the request at its new address.
    func keepSecrets(of record: DownloadRecord, after change: DownloadChange) {
        guard case .url = change else { return }
        var full = record
        secrets.restore(&full)
        _ = full.apply(change)
        secrets.keep(full)
    }

    /// Gives the store what it could not take: nothing may stay at work in it that nobody works on.
    func saveUnsaved() async throws {
        let records = Array(unsaved.values)
        if records.isEmpty { return }
        _ = try await store.save(records, session: identifier)
        for record in records where unsaved[record.id]?.updated == record.updated { unsaved[record.id] = nil }
        if records.contains(where: { DueHook($0) != nil }) { lookForHooks() }
    }

    /// Files that are complete, and stay so whatever becomes of the store: it has them as about to get their names, and
    /// whoever looks at them next finds that they have. It is asked again until then.
    func keepUnrecorded(_ records: [DownloadRecord], _ error: DownloadError) {
        for record in records { unsaved[record.id] = record }
        guard let first = records.first else { return }
        let what = records.count == 1 ? "\(first.id): \(first.displayName) is" : "\(records.count) downloads are"
        parts.notice("\(what) complete, but not recorded as such: \(error)")
    }

    // MARK: Withholding

    /// Returns once nobody changes any of these in the store. What runs then may be another thing than before.
    func waitForChanges(of ids: [DownloadID]) async {
        while ids.contains(where: changing.contains) {
            await withCheckedContinuation { changeWaiters.append($0) }
        }
    }

    /// Keeps these from being started while the store changes them: one change at a time, see ``waitForChanges(of:)``.
    /// Returns those that waited for a slot.
    func withhold(_ ids: [DownloadID]) -> [DownloadID: DownloadRecord] {
        changing.formUnion(ids)
        if !arrivals.isEmpty { arrivals.removeAll { ids.contains($0.id) } }
        if isFilling { leftWhileLoading.formUnion(ids) }
        var withheld: [DownloadID: DownloadRecord] = [:]
        for id in ids {
            guard let record = candidates.removeValue(forKey: id) else { continue }
            scheduler.remove(id)
            withheld[id] = record
        }
        return withheld
    }

    func release(_ ids: [DownloadID]) {
        changing.subtract(ids)
        let waiters = changeWaiters
        changeWaiters = []
        for waiter in waiters { waiter.resume() }
    }

    /// The store refused: all is as before, what was passed over meanwhile included.
    func giveBack(_ ids: [DownloadID], _ withheld: [DownloadID: DownloadRecord]) async {
        release(ids)
        for record in withheld.values { offer(record) }
        leaveToStore()
        await fill()
    }
}
