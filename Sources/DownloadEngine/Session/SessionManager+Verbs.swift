import CSystem
import DownloadCore
import DownloadSystem
import Foundation

/// The requests to a session, from its own process or another process.
extension SessionManager {
    package func add(_ requests: RequestList) async throws -> [AddedDownload] {
        let isFirst = works == nil
        try begin()
        // A session with few downloads ends too soon to gain from giving back the memory of its start.
        if isFirst, isForeground, requests.count >= Self.manyRequests { dlm_forget_code() }
        try await saveUnsaved()
        let added = try await handOver(requests)
        await fill()
        return added
    }

    /// The number of downloads from which the memory of code counts.
    static let manyRequests = 100

    private func handOver(_ requests: RequestList) async throws -> [AddedDownload] {
        book.known.queue.additions += 1
        defer { book.known.queue.additions -= 1 }
        let added = try await store.add(requests, session: identifier)
        FaultPoint.reached("afterAdd")
        startTicker()
        // Indices are used here and below, because a copy of each element would be expensive.
        let hasJoined = added.indices.contains { added[$0].kind == .joined }
        let new = hasJoined ? added.filter { $0.kind != .joined } : added
        if !new.isEmpty { broadcaster.send(.added(new)) }
        book.enter()
        let haveSecrets = requests.runs.contains { $0.request.hasSecrets }
        let date = parts.time.date
        // The last new download that found no room in memory.
        var left: DownloadEntry?
        for index in added.indices where added[index].kind != .joined {
            // A new download without secrets has no older secrets that must be replaced.
            if haveSecrets || added[index].kind != .inserted { secrets.keep(added[index].record) }
            if let left, added[index].kind == .inserted, added[index].entry.isListed(with: left) { continue }
            left = nil
            if case .paused = added[index].entry.state {
                book.known.addPaused(added[index].record)
                broadcaster.send(.didPause(DownloadSnapshot(record: added[index].record)))
            } else if !book.known.adopt(added[index].entry, at: date) {
                left = added[index].entry
            }
        }
        return added
    }

    package func resume(_ ids: [DownloadID], overrides: RequestOverrides) async throws -> [ClaimedDownload] {
        try begin()
        for id in ids {
            if let active = book.entered[active: id], active.stopReason != nil {
                await wait(book.entered.waitForEnd(of: id, active.control))
            }
        }
        try await saveUnsaved()
        try await store.releaseDeadSessions()
        var claimed = try await takeOver(ids, overrides)
        await fill()
        // A background session that has just started may already run one of these downloads, without the secrets that
        // are given now. Such an attempt fails at once, and its download is claimed afterwards.
        let lacking = claimed.compactMap { lacksSecrets($0, overrides) ? $0.record.id : nil }
        if lacking.isEmpty { return claimed }
        for active in book.entered.actives(among: lacking) {
            await wait(book.entered.waitForEnd(of: active.record.id, active.control))
        }
        for download in try await takeOver(lacking, overrides) {
            guard let index = claimed.firstIndex(where: { $0.record.id == download.record.id }) else { continue }
            claimed[index] = download
        }
        await fill()
        return claimed
    }

    /// Returns whether this session has begun a download without secrets that are given now.
    private func lacksSecrets(_ download: ClaimedDownload, _ overrides: RequestOverrides) -> Bool {
        guard download.kind == .running, download.record.session == identifier else { return false }
        var record = download.record
        secrets.restore(&record)
        return !record.request.missingSecrets.isEmpty && overrides.applied(to: record.request).missingSecrets.isEmpty
    }

    /// Returns the records with the secrets that were given to this session.
    func withSecrets(_ records: [DownloadRecord]) -> [DownloadRecord] {
        records.map { record in
            var full = record
            secrets.restore(&full)
            return full
        }
    }

    private func takeOver(_ ids: [DownloadID], _ overrides: RequestOverrides) async throws -> [ClaimedDownload] {
        try await waitForChanges(of: ids)
        book.all.scheduler.startDespitePause(ids)
        let taken = book.entered.beginClaim(of: ids)
        book.entered.queue.additions += 1
        defer {
            book.entered.queue.additions -= 1
            book.entered.endClaim(of: taken)
        }
        let claimed = try await claim(ids)
        startTicker()
        let records = claimed.compactMap { download -> DownloadRecord? in
            guard download.kind == .claimed else { return nil }
            var record = download.record
            secrets.restore(&record)
            record.request = overrides.applied(to: record.request)
            secrets.keep(record)
            return record
        }
        // Records are saved, because a record that waits in the store until there is room must come back with the new
        // options.
        if overrides.changesRequests { _ = try await store.save(records, session: identifier) }
        let alone = Set(taken)
        for record in records {
            broadcaster.send(.didResume(DownloadSnapshot(record: record)))
            if alone.contains(record.id) {
                book.entered.claimed(record, at: parts.time.date)
            } else {
                book.entered.adopt(record, at: parts.time.date)
            }
        }
        return claimed
    }

    /// Claims downloads, including completed downloads whose files are gone. These are fetched again.
    private func claim(_ ids: [DownloadID]) async throws -> [ClaimedDownload] {
        var claimed = try await store.claim(ids, session: identifier)
        let lost = claimed.indices.filter { claimed[$0].kind == .completed && claimed[$0].record.lacksFile }
        if lost.isEmpty { return claimed }
        let again = try await store.claim(
            lost.map { claimed[$0].record.id }, session: identifier, includingCompleted: true)
        for (index, download) in zip(lost, again) { claimed[index] = download }
        return claimed
    }

    package func change(_ ids: [DownloadID], _ change: DownloadChange) async throws -> [ChangedDownload] {
        try await store.releaseDeadSessions()
        let ids = ids.firstOccurrences
        _ = try await store.records(.ids(ids))
        try await waitForChanges(of: ids)
        let active = book.all.activeIDs
        var changed = try await changeIdle(ids.filter { !active.contains($0) }, change)
        for id in ids.filter(active.contains) where try await changeRunning(id, change) { changed.insert(id) }
        await fill()
        return try await snapshots(.ids(ids)).map {
            ChangedDownload(snapshot: $0, didChange: changed.contains($0.id))
        }
    }

    package func remove(_ ids: [DownloadID], deletesFile: Bool) async throws {
        _ = try await store.records(.ids(ids))
        var stopped: [DownloadID: DownloadRecord] = [:]
        var isChanging = false
        let removed: [DownloadRecord]
        do {
            while true {
                try await waitForChanges(of: ids)
                let running = book.all.actives(among: ids)
                if running.isEmpty { break }
                for active in running { stop(active.record.id, .remove) }
                for active in running {
                    let waiter = book.entered.waitForEnd(of: active.record.id, active.control)
                    stopped[active.record.id] = await wait(waiter)
                }
            }
            book.entered.beginChange(of: ids)
            isChanging = true
            removed = try await store.remove(ids, session: identifier) { DownloadRemoval.deletePartial(of: $0) }
        } catch {
            if isChanging { book.entered.cancelChange(of: ids, at: parts.time.date) }
            for record in stopped.values where record.state == .paused(.user) {
                if book.entered.endReason == nil { book.entered.addPaused(record) }
                broadcaster.send(.didPause(DownloadSnapshot(record: record)))
            }
            await fill()
            throw error
        }
        FaultPoint.reached("removing")
        book.entered.forget(ids)
        for record in removed { broadcaster.send(.didRemove(DownloadSnapshot(record: record))) }
        var failure: DownloadError?
        for record in removed {
            do throws(DownloadError) {
                try DownloadRemoval.deleteFiles(of: record, deletesFile: deletesFile)
            } catch {
                failure = failure ?? error
            }
        }
        await fill()
        if let failure { throw failure }
    }

    // MARK: Questions

    package func snapshots(_ selection: DownloadSelection) async throws -> [DownloadSnapshot] {
        try await store.releaseDeadSessions()
        var attended: [String: Bool] = [identifier: works != nil]
        let records = try await store.records(selection)
        let (book, pauses) = (book.entered, hostPauses)
        return records.map { record in
            var snapshot =
                book[active: record.id].map { DownloadSnapshot(record: $0.control.record, progress: $0.progress) }
                ?? DownloadSnapshot(record: record)
            if selection.isDetailed {
                snapshot.activeConnections = book[active: record.id]?.control.connections(at: parts.time.now)
            }
            if let session = record.session {
                let lives = attended[session] ?? parts.isAlive(session)
                attended[session] = lives
                snapshot.isAttended = lives
                if !lives { snapshot.record.leaveForeground() }
            } else {
                snapshot.isAttended = false
            }
            if record.session == identifier { snapshot.show(pauses) }
            return snapshot
        }
    }

    private var hostPauses: [HostPause] {
        book.entered.scheduler.pauses.map { origin, pause in
            HostPause(
                origin: origin, status: pause.status,
                until: parts.time.date + (pause.end - parts.time.now) / .seconds(1), causes: pause.causes.sorted())
        }
    }

    package func progress() -> [DownloadProgress] {
        let book = book.entered
        return book.actives.map(\.progress) + book.progressAtRest
    }

    package func events() -> DownloadEvents { broadcaster.stream() }

    package func log(since cursor: EventCursor?) async throws -> AsyncThrowingStream<LogEntry, any Error> {
        let reader = try await EventLogReader(store: store, since: cursor, time: parts.time)
        return AsyncThrowingStream { try await reader.next() }
    }

    /// Throws while the session ends, so that a caller waits for the next session.
    package func checkAvailability() async throws {
        if book.entered.endReason != nil { throw DownloadError.sessionUnavailable(.shuttingDown) }
    }

    package func status() async throws -> SessionStatus {
        try await checkAvailability()
        let states = book.entered.actives.map(\.record.state.kind) + book.entered.progressAtRest.map(\.state.kind)
        var status = SessionStatus(
            identifier: identifier, pid: getpid(), version: parts.version, started: started,
            running: states.count { $0 == .running }, waiting: states.count { $0 == .waiting },
            queued: try await store.queuedCount(session: identifier),
            settings: SessionSettings(
                maxConcurrent: book.entered.scheduler.maxConcurrent, maxPerHost: book.entered.scheduler.maxPerOrigin,
                rateLimit: rateLimit.bytesPerSecond),
            isFinishing: book.entered.isDraining)
        status.hostPauses = hostPauses.isEmpty ? nil : hostPauses
        return status
    }

    // MARK: The session itself

    package func configure(_ settings: SessionSettings) async throws {
        // Ready files are recalled, because slots that are passed on keep their old number.
        if let limit = settings.maxConcurrent { book.all.scheduler.maxConcurrent = limit }
        if let limit = settings.maxPerHost {
            book.all.scheduler.maxPerOrigin = limit
            book.entered.scheduler.hostLimits = [:]
        }
        if let limit = settings.rateLimit { rateLimit.bytesPerSecond = limit > 0 ? limit : nil }
        await fill()
    }

    package func shutdown(_ mode: ShutdownMode) async throws { shutdownRequest.yield(mode) }

    // MARK: Resume data

    /// Resumes a download of which the caller kept the record. If the store does not know the download, it is added,
    /// together with the resume data of the record.
    package func resume(_ kept: DownloadRecord, overrides: RequestOverrides) async throws -> DownloadRecord {
        var id = kept.id
        if try await !knows(kept) {
            var request = kept.request
            request.startsPaused = true
            guard let added = try await add([request]).first else { throw DownloadError.noSuchDownload(id) }
            if added.kind == .joined { return added.record }
            id = added.record.id
            if added.kind == .inserted { try await putBack(kept, as: added.record) }
        }
        guard let claimed = try await resume([id], overrides: overrides).first else {
            throw DownloadError.noSuchDownload(id)
        }
        return claimed.record
    }

    /// Returns whether the store has this download. The number alone does not prove this, because it means another
    /// download in another store.
    private func knows(_ kept: DownloadRecord) async throws -> Bool {
        let record: DownloadRecord?
        do { record = try await store.records(.ids([kept.id])).first } catch DownloadError.noSuchDownload {
            record = nil
        }
        guard let record else { return false }
        let (known, asked) = (record.request.destination, kept.request.destination)
        return record.request.url == kept.request.url && known.folder == asked.folder
            && known.fileName == asked.fileName
    }

    private func putBack(_ kept: DownloadRecord, as added: DownloadRecord) async throws {
        var record = added
        record.request.startsPaused = kept.request.startsPaused
        record.fileName = kept.fileName
        record.isFinishing = kept.isFinishing
        record.resume = kept.resume
        _ = try await store.save([record], session: identifier)
    }
}
