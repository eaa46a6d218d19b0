import Foundation

/// Downloads that may not run now: they are rows in the store, and of each the session keeps when it goes on.
extension SessionManager {
    /// One that waits for its time.
    struct Parked {
        let until: Date
        let progress: DownloadProgress
    }

    /// Put back into the queue at once, with the store asked once for them.
    private static let dueAtOnce = 500

    /// When it may run; nil: now.
    func closedUntil(_ record: DownloadRecord) -> Date? {
        guard case .closed(let until)? = record.request.schedule?.answer(at: parts.now()) else { return nil }
        return until
    }

    /// When it must stop; nil: not for its schedule.
    func closes(_ record: DownloadRecord) -> Date? {
        guard case .open(let until)? = record.request.schedule?.answer(at: parts.now()) else { return nil }
        return until
    }

    func parkArrivals() async {
        while !arrivals.isEmpty {
            let records = arrivals
            arrivals = []
            for record in records where !changing.contains(record.id) {
                guard let until = closedUntil(record) else {
                    offer(record)
                    continue
                }
                await park(record, until: until)
            }
        }
    }

    /// What has no runner any more, or had none yet.
    func park(_ unparked: DownloadRecord, until: Date) async {
        var record = unparked
        if let reason = stopReason ?? (isFinishing ? .terminate : nil) { return await pause(record, reason) }
        record.move(to: .waiting(.schedule, until: until))
        // Whoever wants to change it waits for that.
        changing.insert(record.id)
        record = await save(record)
        release([record.id])
        let snapshot = DownloadSnapshot(record: record)
        if let failure = record.failure {
            leave(record)
            return broadcaster.send(.didFail(snapshot, failure))
        }
        parked[record.id] = Parked(until: until, progress: snapshot.progress)
        nextDue = min(nextDue ?? until, until)
        leave(record)
        broadcaster.send(.didPostpone(snapshot))
    }

    /// Called twice a second. The clock on the wall counts: it may be put, and the machine may sleep.
    func keepTimes() async {
        let now = parts.now()
        if let change = rateClock.change(at: now) { rateLimit.bytesPerSecond = change }
        for (id, entry) in entries where entry.wish == nil && !entry.isFinishing {
            if let closes = entry.closes, closes <= now { stop(id, .park) }
        }
        guard let nextDue, nextDue <= now, stopReason == nil, !isFinishing else { return }
        let due = parked.filter { $0.value.until <= now && !changing.contains($0.key) }.keys.prefix(Self.dueAtOnce)
        await goOn(Array(due))
        self.nextDue = parked.values.map(\.until).min()
        await fill()
    }

    private func goOn(_ ids: [DownloadID]) async {
        var due: [DownloadRecord] = []
        for id in ids {
            // One that is gone from the store needs nothing more; a store that fails is asked again.
            do {
                due += try await store.records(.ids([id]))
            } catch DownloadError.noSuchDownload {
                parked[id] = nil
            } catch { return }
        }
        due = due.filter { record in
            if case .waiting(.schedule, _) = record.state, record.session == identifier { return true }
            parked[record.id] = nil
            return false
        }
        for record in due where !changing.contains(record.id) && parked.removeValue(forKey: record.id) != nil {
            var record = record
            secrets.restore(&record)
            record.move(to: .queued)
            changing.insert(record.id)
            record = await save(record)
            release([record.id])
            if let failure = record.failure {
                broadcaster.send(.didFail(DownloadSnapshot(record: record), failure))
            } else {
                offer(record)
            }
        }
    }

    /// At the end of the session: whoever goes on with them looks at their times anew.
    func pauseParked(_ reason: DownloadState.PauseReason) async {
        let ids = Array(parked.keys)
        parked = [:]
        nextDue = nil
        for id in ids {
            guard let record = try? await store.records(.ids([id])).first, case .waiting(.schedule, _) = record.state
            else { continue }
            await pause(record, reason)
        }
    }
}
