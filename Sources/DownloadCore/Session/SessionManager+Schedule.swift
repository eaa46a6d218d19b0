import Foundation

/// Downloads that may not run now: they are rows in the store, and of each the session keeps when it goes on.
extension SessionManager {
    /// One that waits for its time.
    struct Parked {
        let until: Date
        let progress: DownloadProgress
    }

    /// In one question to the store.
    private static let atOnce = 500

    /// When it may run; nil: now.
    func closedUntil(_ record: DownloadRecord) -> Date? {
        guard case .closed(let until)? = record.request.schedule?.answer(at: parts.time.date) else { return nil }
        return until
    }

    /// When it must stop; nil: not for its schedule.
    func closes(_ record: DownloadRecord) -> Date? {
        guard case .open(let until)? = record.request.schedule?.answer(at: parts.time.date) else { return nil }
        return until
    }

    func parkArrivals() async {
        while !arrivals.isEmpty {
            let part = arrivals.prefix(Self.atOnce)
            arrivals.removeFirst(part.count)
            var closed: [DownloadRecord] = []
            for var record in part where !changing.contains(record.id) {
                guard let until = closedUntil(record) else {
                    offer(record)
                    continue
                }
                record.move(to: .waiting(.schedule, until: until))
                closed.append(record)
            }
            await park(closed)
        }
    }

    /// What has no runner any more, or had none yet.
    func park(_ unparked: DownloadRecord, until: Date) async {
        var record = unparked
        record.move(to: .waiting(.schedule, until: until))
        await park([record])
    }

    private func park(_ records: [DownloadRecord]) async {
        if let reason = stopReason ?? (isFinishing ? .terminate : nil) {
            for record in records { await pause(record, reason) }
            return
        }
        for record in await saveUnchanged(records) {
            let snapshot = DownloadSnapshot(record: record)
            if case .waiting(.schedule, let until?) = record.state {
                parked[record.id] = Parked(until: until, progress: snapshot.progress)
                nextDue = min(nextDue ?? until, until)
            }
            leave(record)
            broadcaster.send(record.failure.map { .didFail(snapshot, $0) } ?? .didPostpone(snapshot))
        }
    }

    /// Whoever wants to change one of them waits for that.
    private func saveUnchanged(_ records: [DownloadRecord]) async -> [DownloadRecord] {
        if records.isEmpty { return [] }
        let ids = records.map(\.id)
        changing.formUnion(ids)
        defer { release(ids) }
        let stamped = records.map { record in
            var record = record
            record.updated = parts.time.date
            return record
        }
        if let lost = try? await store.save(stamped, session: identifier), lost.isEmpty { return stamped }
        var saved: [DownloadRecord] = []
        for record in records { saved.append(await save(record)) }
        return saved
    }

    /// Called twice a second. The clock on the wall counts: it may be put, and the machine may sleep.
    func keepTimes() async {
        let now = parts.time.date
        if let change = rateClock.change(at: now) { rateLimit.bytesPerSecond = change }
        for (id, entry) in entries where entry.wish == nil && !entry.isFinishing {
            if let closes = entry.closes, closes <= now { stop(id, .park) }
        }
        guard let nextDue, nextDue <= now, stopReason == nil, !isFinishing else { return }
        let due = parked.filter { $0.value.until <= now && !changing.contains($0.key) }.keys.prefix(Self.atOnce)
        await goOn(Array(due))
        self.nextDue = parked.values.map(\.until).min()
        await fill()
    }

    /// Those of them that still wait for their time.
    private func waitingForTime(_ ids: [DownloadID]) async -> [DownloadRecord] {
        var records = try? await store.records(.ids(ids))
        if records == nil {
            // One is gone from the store, or that fails: then they are asked for again.
            records = []
            for id in ids {
                do { records? += try await store.records(.ids([id])) } catch DownloadError.noSuchDownload {
                    parked[id] = nil
                } catch { continue }
            }
        }
        return (records ?? []).filter { record in
            if case .waiting(.schedule, _) = record.state, record.session == identifier { return true }
            parked[record.id] = nil
            return false
        }
    }

    private func goOn(_ ids: [DownloadID]) async {
        let due = await waitingForTime(ids).filter { !changing.contains($0.id) && parked[$0.id] != nil }
        let queued = due.map { record in
            var record = record
            parked[record.id] = nil
            secrets.restore(&record)
            record.move(to: .queued)
            return record
        }
        for record in await saveUnchanged(queued) {
            if let failure = record.failure {
                broadcaster.send(.didFail(DownloadSnapshot(record: record), failure))
            } else {
                offer(record)
            }
        }
    }

    /// At the end of the session: whoever goes on with them looks at their times anew.
    func pauseParked(_ reason: DownloadState.PauseReason) async {
        var ids = Array(parked.keys)[...]
        while !ids.isEmpty {
            let part = Array(ids.prefix(Self.atOnce))
            ids = ids.dropFirst(part.count)
            let paused = await waitingForTime(part).map { record in
                var record = record
                record.move(to: .paused(reason))
                record.leaveForeground()
                return record
            }
            for record in await saveUnchanged(paused) {
                leave(record)
                broadcaster.send(.didPause(DownloadSnapshot(record: record)))
            }
        }
        parked = [:]
        nextDue = nil
    }
}
