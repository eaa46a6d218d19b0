import Foundation

/// Changes of downloads that wait in the store, and of those that run.
extension SessionManager {
    /// Changes what has no runner.
    /// - Returns: those for which it made a difference.
    func changeIdle(_ records: [DownloadRecord], _ change: DownloadChange) async throws -> Set<DownloadID> {
        if records.isEmpty { return [] }
        let ids = records.map(\.id)
        let withheld = withhold(ids)
        let results: [ChangedRecord]
        do {
            results = try await store.change(ids, change, session: identifier)
        } catch {
            release(ids, back: withheld)
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
    func changeRunning(_ record: DownloadRecord, _ change: DownloadChange) async throws -> Bool {
        let id = record.id
        while let entry = entries[id] {
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
            await waitUntilOver(id, entry.control)
            if let failure = unsaved[id]?.failure { throw failure }
            if case .priority = change { continue }
            if case .rateLimit = change { continue }
            return try await store.records(.ids([id])).allSatisfy { Self.shows($0, change) }
        }
        return try await !changeIdle(store.records(.ids([id])), change).isEmpty
    }

    /// Whether a download that was stopped for a change has become what was wanted: its end may have come first.
    private static func shows(_ record: DownloadRecord, _ change: DownloadChange) -> Bool {
        switch change {
        case .pause: record.state == .paused(.user)
        case .cancel: record.state == .cancelled
        case .url(let url, _): record.request.url == url
        case .priority(let priority): record.request.priority == priority
        case .rateLimit(let limit): record.request.rateLimit == limit
        }
    }

    /// Changes one between two attempts.
    private func changeWaiting(_ id: DownloadID, _ change: DownloadChange) async -> Bool {
        guard var record = entries[id]?.record, record.apply(change) else { return false }
        entries[id]?.record = record
        entries[id]?.control.show(record)
        record = await save(record)
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
        secrets.replace(full)
    }

    /// Gives the store what it could not take: nothing may stay at work in it that nobody works on.
    func saveUnsaved() async throws {
        let records = Array(unsaved.values)
        if records.isEmpty { return }
        _ = try await store.save(records, session: identifier)
        for record in records where unsaved[record.id]?.updated == record.updated { unsaved[record.id] = nil }
    }

    // MARK: Withholding

    /// Keeps these from being started while the store changes them. Returns those that waited for a slot.
    func withhold(_ ids: [DownloadID]) -> [DownloadID: DownloadRecord] {
        changing.formUnion(ids)
        if isFilling { leftWhileLoading.formUnion(ids) }
        var withheld: [DownloadID: DownloadRecord] = [:]
        for id in ids {
            guard let record = candidates.removeValue(forKey: id) else { continue }
            scheduler.remove(id)
            withheld[id] = record
        }
        return withheld
    }

    /// - Parameter back: these wait as before.
    func release(_ ids: [DownloadID], back withheld: [DownloadID: DownloadRecord] = [:]) {
        changing.subtract(ids)
        for record in withheld.values { offer(record) }
    }
}
