import CSystem
import Foundation

/// What may be asked of a session, by its own process or another.
extension SessionManager {
    public func add(_ requests: [DownloadRequest]) async throws -> [AddedDownload] {
        let isFirst = context == nil
        try begin()
        // One that has little to do ends sooner than it would pay to give back the memory of its start.
        if isFirst, isForeground, requests.count >= Self.manyRequests { dlm_forget_code() }
        try await saveUnsaved()
        let added = try await handOver(requests)
        await fill()
        return added
    }

    private static let manyRequests = 100

    public func resume(_ ids: [DownloadID], overrides: RequestOverrides) async throws -> [ClaimedDownload] {
        try begin()
        for id in ids {
            if let entry = entries[id], entry.wish != nil { await waitUntilOver(id, entry.control) }
        }
        try await saveUnsaved()
        try await store.releaseDeadSessions()
        let claimed = try await takeOver(ids, overrides)
        await fill()
        return claimed
    }

    private func handOver(_ requests: [DownloadRequest]) async throws -> [AddedDownload] {
        handingOver += 1
        defer { handingOver -= 1 }
        let added = try await store.add(requests, session: identifier)
        FaultPoint.reached("afterAdd")
        startTicker()
        broadcaster.sendAdded(added.lazy.filter { $0.kind != .joined }.map(\.record))
        let haveSecrets = requests.contains { $0.hasSecrets }
        // By index: to take each out of the array would copy all that it has.
        for index in added.indices where added[index].kind != .joined {
            held[added[index].record.id] = nil
            // Of a new one nothing was kept before.
            if haveSecrets || added[index].kind != .inserted { secrets.keep(added[index].record) }
            if case .paused = added[index].record.state {
                hold(added[index].record)
            } else {
                takeUp(added[index].record)
            }
        }
        return added
    }

    /// It is not to begin before somebody resumes it, for which a foreground session stays.
    private func hold(_ record: DownloadRecord) {
        if isForeground { held[record.id] = record }
        broadcaster.send(.didPause(DownloadSnapshot(record: record)))
    }

    private func takeOver(_ ids: [DownloadID], _ overrides: RequestOverrides) async throws -> [ClaimedDownload] {
        recallReady()
        resuming.formUnion(ids)
        defer { resuming.subtract(ids) }
        let claimed = try await claim(ids)
        startTicker()
        let records = claimed.compactMap { download -> DownloadRecord? in
            guard case .claimed(var record) = download else { return nil }
            secrets.restore(&record)
            record.request = overrides.applied(to: record.request)
            secrets.keep(record)
            return record
        }
        // A record that is left to the store until there is room must come back with what was given anew.
        if overrides.changesRequests { _ = try await store.save(records, session: identifier) }
        for record in records {
            held[record.id] = nil
            broadcaster.send(.didResume(DownloadSnapshot(record: record)))
            takeUp(record)
        }
        return claimed
    }

    /// Claims downloads, and with them the completed ones whose files are gone: they are fetched again.
    private func claim(_ ids: [DownloadID]) async throws -> [ClaimedDownload] {
        var claimed = try await store.claim(ids, session: identifier)
        let lost = claimed.indices.filter { index in
            guard case .completed(let record) = claimed[index] else { return false }
            return record.lacksFile
        }
        if lost.isEmpty { return claimed }
        let again = try await store.claim(
            lost.map { claimed[$0].record.id }, session: identifier, includingCompleted: true)
        for (index, download) in zip(lost, again) { claimed[index] = download }
        return claimed
    }

    /// What is queued for this session from now on. One whose last attempt is about to leave is found in
    /// the store after that.
    private func takeUp(_ record: DownloadRecord) {
        if entries[record.id] != nil { returning.insert(record.id) }
        timeLeft[record.id] = nil
        offer(record)
    }

    public func change(_ ids: [DownloadID], _ change: DownloadChange) async throws -> [ChangedDownload] {
        try await saveUnsaved()
        try await store.releaseDeadSessions()
        let ids = ids.firstOccurrences
        _ = try await store.records(.ids(ids))
        await waitForChanges(of: ids)
        recallReady()
        let running = ids.filter { entries[$0] != nil }
        var changed = try await changeIdle(ids.filter { entries[$0] == nil }, change)
        for id in running where try await changeRunning(id, change) { changed.insert(id) }
        await fill()
        return try await snapshots(.ids(ids)).map {
            ChangedDownload(snapshot: $0, didChange: changed.contains($0.id))
        }
    }

    public func remove(_ ids: [DownloadID], deletesFile: Bool) async throws {
        _ = try await store.records(.ids(ids))
        var stopped: [DownloadID: DownloadRecord] = [:]
        while true {
            await waitForChanges(of: ids)
            recallReady()
            let running = ids.compactMap { id in entries[id].map { (id, $0.control) } }
            if running.isEmpty { break }
            for (id, _) in running { stop(id, .remove) }
            for (id, control) in running { stopped[id] = await waitUntilOver(id, control) }
        }
        let withheld = withhold(ids)
        let removed: [DownloadRecord]
        do {
            removed = try await store.remove(ids, session: identifier) { DownloadRemoval.deletePartial(of: $0) }
        } catch {
            for record in stopped.values where record.state == .paused(.user) {
                if isForeground, stopReason == nil { held[record.id] = record }
                broadcaster.send(.didPause(DownloadSnapshot(record: record)))
            }
            await giveBack(ids, withheld)
            throw error
        }
        FaultPoint.reached("removing")
        release(ids)
        for record in removed {
            held[record.id] = nil
            retries[record.id] = nil
            parked[record.id] = nil
            broadcaster.send(.didRemove(DownloadSnapshot(record: record)))
        }
        for record in removed { try DownloadRemoval.deleteFiles(of: record, deletesFile: deletesFile) }
        await fill()
    }

    // MARK: Questions

    public func snapshots(_ selection: DownloadSelection) async throws -> [DownloadSnapshot] {
        try await store.releaseDeadSessions()
        learnSlots()
        var attended: [String: Bool] = [identifier: context != nil]
        return try await store.records(selection).map { record in
            var snapshot =
                entries[record.id].flatMap { entry in
                    // Next in line, and in the store as queued.
                    if entry.record.state == .queued { return nil }
                    return DownloadSnapshot(
                        record: entry.control.record,
                        progress: entry.control.progress(id: record.id, state: entry.record.state))
                } ?? DownloadSnapshot(record: record)
            if let session = record.session {
                let lives = attended[session] ?? parts.isAlive(session)
                attended[session] = lives
                snapshot.isAttended = lives
                if !lives { snapshot.record.leaveForeground() }
            } else {
                snapshot.isAttended = false
            }
            return snapshot
        }
    }

    public func progress() -> [DownloadProgress] {
        learnSlots()
        return entries.values.filter { $0.record.state != .queued }
            .map { $0.control.progress(id: $0.record.id, state: $0.record.state) }
            + held.values.map { DownloadSnapshot(record: $0).progress } + parked.values.map(\.progress)
    }

    public func events() -> DownloadEvents { broadcaster.stream() }

    /// All but the additions, which may be a million at once.
    public func eventsOfWork() -> DownloadEvents { broadcaster.stream(hearsAdded: false) }

    public func log(since cursor: EventCursor?) async throws -> AsyncThrowingStream<LogEntry, any Error> {
        let reader = try await EventLogReader(store: store, since: cursor, time: parts.time)
        return AsyncThrowingStream { try await reader.next() }
    }

    /// Who asks for a session to work with must wait for the next one while this one ends.
    public func checkAvailability() async throws {
        if stopReason != nil { throw DownloadError.sessionUnavailable(.shuttingDown) }
    }

    public func status() async throws -> SessionStatus {
        try await checkAvailability()
        learnSlots()
        let states = entries.values.map(\.record.state.kind)
        return SessionStatus(
            identifier: identifier, pid: getpid(), version: parts.version, started: started,
            running: states.count { $0 == .running }, waiting: states.count { $0 == .waiting } + parked.count,
            queued: try await store.queuedCount(session: identifier),
            settings: SessionSettings(
                maxConcurrent: scheduler.maxConcurrent, maxPerHost: scheduler.maxPerOrigin,
                rateLimit: rateLimit.bytesPerSecond),
            isFinishing: isFinishing)
    }

    // MARK: The session itself

    public func configure(_ settings: SessionSettings) async throws {
        if let limit = settings.maxConcurrent { scheduler.maxConcurrent = limit }
        if let limit = settings.maxPerHost {
            scheduler.maxPerOrigin = limit
            scheduler.hostLimits = [:]
        }
        // Slots that are passed on stay as many as they were.
        recallReady()
        if let limit = settings.rateLimit { rateLimit.bytesPerSecond = limit > 0 ? limit : nil }
        await fill()
    }

    public func shutdown(_ mode: ShutdownMode) async throws { shutdownRequest.yield(mode) }
}
