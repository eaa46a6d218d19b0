import Foundation

/// From queued to the end of an attempt, and to the next one.
extension SessionManager {
    /// Records kept ready beside those that run.
    private static let windowSize = 256
    /// Records fetched past those that wait for busy origins.
    private static let beyondSize = 64
    /// Whole files on their way to their names; each holds descriptors.
    static let finishingLimit = 128

    // MARK: Starting

    /// Keeps the record ready, or leaves it to the store until there is room.
    func offer(_ record: DownloadRecord) {
        let id = record.id
        if candidates[id] != nil || entries[id] != nil || changing.contains(id) { return }
        if record.request.schedule != nil, closedUntil(record) != nil {
            arrivals.append(record)
            isFillWanted = true
            return
        }
        // Whoever is between two attempts is not queued in the store.
        if candidates.count >= 2 * Self.windowSize, retries[id] == nil {
            leaveToStore()
            guard let last = scheduler.last(where: { retries[$0] == nil }),
                last.follows(id, priority: record.request.priority)
            else { return }
            scheduler.remove(last.id)
            candidates[last.id] = nil
        }
        enlist(record)
    }

    func enlist(_ record: DownloadRecord) {
        candidates[record.id] = record
        scheduler.add(.init(id: record.id, origin: record.source.origin, priority: record.request.priority))
    }

    /// Something waits in the store that is not kept ready.
    func leaveToStore() {
        queueMayHaveMore = true
        queuePosition = nil
        nothingBeyond = nil
        leftToStore = true
    }

    /// Starts what may start.
    func fill() async {
        isFillWanted = true
        guard !isFilling else { return }
        isFilling = true
        defer { isFilling = false }
        while isFillWanted {
            isFillWanted = false
            await fillOnce()
        }
    }

    private func fillOnce() async {
        _ = scheduler.releaseHolds(at: parts.time.now)
        await parkArrivals()
        learnSlots()
        startReady()
        while stopReason == nil, !isFinishing, scheduler.hasFreeSlot,
            finishing < Self.finishingLimit, smallFiles?.isFull != true
        {
            if candidates.isEmpty, queueMayHaveMore { await loadMore() }
            await parkArrivals()
            if !candidates.isEmpty, queueMayHaveMore, !scheduler.canStart { await loadBeyond() }
            guard stopReason == nil, !isFinishing, let id = scheduler.start() else { break }
            guard let record = candidates.removeValue(forKey: id) else {
                scheduler.ended(id)
                continue
            }
            if let until = closedUntil(record) {
                scheduler.ended(id)
                retries[id] = nil
                await park(record, until: until)
                continue
            }
            if let pause = record.request.pacing {
                scheduler.hold(record.source.origin, until: parts.time.now + .seconds(pause))
            }
            start(record, failures: retries.removeValue(forKey: id) ?? 0)
        }
        if let smallFiles, smallFiles.ready.isLow {
            while candidates.count < ReadyFiles.most, queueMayHaveMore, await loadMore() {}
            makeReady()
        }
    }

    /// - Returns: false when there is no use in asking again at once: nothing new came, or the store fails.
    @discardableResult
    private func loadMore() async -> Bool {
        let known = candidates.count
        leftWhileLoading = []
        leftToStore = false
        // A store that fails now is asked again at the next tick.
        guard
            let records = try? await store.queued(
                session: parts.identifier, after: queuePosition, limit: Self.windowSize)
        else { return false }
        if !leftToStore {
            queueMayHaveMore = records.count == Self.windowSize
            queuePosition =
                queueMayHaveMore ? records.last.map { .init(priority: $0.request.priority, id: $0.id) } : nil
        }
        if records.contains(where: isComing) { leaveToStore() }
        // One that ended since the store answered is queued no more.
        for var record in records where !leftWhileLoading.contains(record.id) && !isComing(record) {
            secrets.restore(&record)
            offer(record)
        }
        return candidates.count > known
    }

    /// Whoever is just adding or resuming it has its secrets, and will offer it.
    private func isComing(_ record: DownloadRecord) -> Bool {
        resuming.contains(record.id) || handingOver > 0 && record.request.hasSecrets
    }

    /// Everything that is kept ready waits for origins that are busy: others may have their turn.
    private func loadBeyond() async {
        let busy = scheduler.saturatedOrigins
        if let nothingBeyond, nothingBeyond.isSubset(of: busy) { return }
        leftWhileLoading = []
        leftToStore = false
        // A store that fails now is asked again when something ends.
        guard
            let records = try? await store.queued(
                session: identifier, excluding: busy.flatMap(SourceURL.prefixes), limit: Self.windowSize)
        else { return }
        if records.contains(where: isComing) { leaveToStore() }
        let new = records.filter { record in
            candidates[record.id] == nil && entries[record.id] == nil && !changing.contains(record.id)
                && !leftWhileLoading.contains(record.id) && !isComing(record)
        }
        if new.isEmpty, !leftToStore { nothingBeyond = busy }
        for var record in new.prefix(Self.beyondSize) {
            secrets.restore(&record)
            enlist(record)
        }
    }

    private func start(_ queued: DownloadRecord, failures: Int) {
        guard let context else { return }
        var record = queued
        record.forgetLostFile()
        let begun = record
        record.move(to: .running)
        if let smallFiles, smallFiles.isUsable, record.mayBeSmall {
            let attempt = attempt(begun, smallFiles, prefersMultiplexing: prefersMultiplexing(record))
            entries[record.id]?.record = record
            entries[record.id]?.failures = failures
            attempt.begin()
            return
        }
        unsaved[queued.id] = nil
        let control = RunnerControl(record: record)
        let allowed = timeLeft.removeValue(forKey: record.id) ?? record.request.timeouts.total.map { .seconds($0) }
        let deadline = allowed.map { parts.time.now + $0 }
        entries[record.id] = Entry(
            record: record, control: control, failures: failures, deadline: deadline, closes: closes(record))
        run(
            DownloadRunner(
                record: record, context: context, control: control,
                prefersMultiplexing: prefersMultiplexing(record), deadline: deadline))
    }

    nonisolated func run(_ runner: sending DownloadRunner) {
        Task {
            let outcome = await runner.run()
            await self.ended(runner.record, outcome)
        }
    }

    // MARK: Ending

    /// The attempt needs no slot any more; word of an earlier attempt changes nothing.
    func transfersEnded(_ id: DownloadID, _ control: RunnerControl) async {
        learnSlots()
        guard let entry = entries[id], entry.control === control else { return }
        if !entry.isFinishing { finishing += 1 }
        entries[id]?.isFinishing = true
        scheduler.ended(id)
        await fill()
    }

    /// Unless the store could not take it.
    func endEvent(of record: DownloadRecord) -> DownloadEvent {
        let snapshot = DownloadSnapshot(record: record)
        return record.failure.map { .didFail(snapshot, $0) } ?? .didComplete(snapshot)
    }

    private func ended(_ ended: DownloadRecord, _ outcome: DownloadRunner.Outcome) async {
        var record = ended
        learnSlots()
        scheduler.ended(record.id)
        let wish = entries[record.id]?.wish
        switch outcome {
        case .completed:
            if record.state != .completed {
                record.move(to: .completed)
                record.leaveForeground()
                record = await save(record)
            }
            leave(record)
            broadcaster.send(endEvent(of: record))
        case .stopped: await stopped(record, wish)
        case .failed(let error, let retryAfter):
            // It would have been tried again, or was not to go on in any case.
            if let wish, record.request.retry.repeats(error) || !wish.isPause {
                await stopped(record, wish)
            } else {
                await failed(record, error, retryAfter)
            }
        case .renewed(let error):
            secrets.keep(record)
            if let wish {
                await stopped(record, wish)
            } else {
                await failed(record, error, nil, isRenewed: true)
            }
        }
        await fill()
    }

    /// What becomes of a download that runs no more, because it was asked to stop.
    func stopped(_ stopped: DownloadRecord, _ wish: Wish?) async {
        var record = stopped
        switch wish {
        case nil: await pause(record, stopReason ?? .user)
        case .pause(let reason): await pause(record, reason)
        case .cancel:
            record.move(to: .cancelled)
            record.leaveForeground()
            record = await save(record)
            leave(record)
            announce(record, .didCancel(DownloadSnapshot(record: record)))
        case .remove:
            record.move(to: .paused(.user))
            leave(await save(record))
        case .park:
            timeLeft[record.id] = entries[record.id]?.deadline.map { $0 - parts.time.now }
            await park(record, until: closedUntil(record) ?? parts.time.date)
        case .change(let change):
            _ = record.apply(change)
            secrets.keep(record)
            if let stopReason { return await pause(record, stopReason) }
            record.move(to: .queued)
            record = await save(record)
            leave(record)
            announce(record, .didChange(DownloadSnapshot(record: record)))
            if record.state == .queued { offer(record) }
        }
    }

    /// Unless the store could not take it.
    private func announce(_ record: DownloadRecord, _ event: DownloadEvent) {
        broadcaster.send(record.failure.map { .didFail(DownloadSnapshot(record: record), $0) } ?? event)
    }

    func pause(_ running: DownloadRecord, _ reason: DownloadState.PauseReason) async {
        var record = running
        record.move(to: .paused(reason))
        let holds = reason == .user && isForeground && stopReason == nil
        if !holds { record.leaveForeground() }
        FaultPoint.reached("pausing")
        record = await save(record)
        FaultPoint.reached("paused")
        if holds, record.failure == nil { held[record.id] = record }
        leave(record)
        announce(record, .didPause(DownloadSnapshot(record: record)))
    }

    /// Asks an attempt to end; without a wish it is paused for the reason of the session's own end.
    func stop(_ id: DownloadID, _ wish: Wish? = nil) {
        guard let entry = entries[id] else { return }
        if let wish { entries[id]?.wish = wish }
        entry.control.stop()
        if entry.record.state.kind == .waiting { entry.task?.cancel() }
    }

    func leave(_ record: DownloadRecord) {
        if entries.removeValue(forKey: record.id)?.isFinishing == true { finishing -= 1 }
        scheduler.doesNotWait(record.id)
        if !parts.keepsUnfinished, record.state.kind.isEnded || record.state.kind == .paused {
            deleteUnfinished(record)
        }
        if DueHook(record) != nil { lookForHooks() }
        if isFilling { leftWhileLoading.insert(record.id) }
        if returning.remove(record.id) != nil { leaveToStore() }
        attemptIsOver(record)
        guard entries.isEmpty else { return }
        for waiter in idleWaiters { waiter.resume() }
        idleWaiters.removeAll()
    }

    /// Returns once the attempt that `control` belongs to, or the time between two, has ended: with the record as that
    /// left it, or nil when it was over before.
    @discardableResult
    func waitUntilOver(_ id: DownloadID, _ control: RunnerControl) async -> DownloadRecord? {
        guard entries[id]?.control === control else { return nil }
        return await withCheckedContinuation { leavers[id, default: []].append($0) }
    }

    /// Only a partial file of its own: the name may be that of another download, which is why this one failed.
    private func deleteUnfinished(_ record: DownloadRecord) {
        guard record.resume.file != nil else { return }
        do throws(DownloadError) {
            try DownloadRemoval.deleteFiles(of: record, deletesFile: false)
        } catch {
            parts.notice("\(error)")
        }
    }

    func attemptIsOver(_ record: DownloadRecord) {
        for waiter in leavers.removeValue(forKey: record.id) ?? [] { waiter.resume(returning: record) }
    }

    /// The record as it stands after the save: failed, if the store could not take it.
    func save(_ record: DownloadRecord) async -> DownloadRecord {
        var saved = record
        saved.updated = parts.time.date
        do {
            let lost = try await store.save([saved], session: parts.identifier)
            if lost.contains(saved.id) {
                saved.state = .failed(.sessionUnavailable(.ownedElsewhere(saved.id, session: "another")))
                saved.session = nil
            }
        } catch {
            saved.state = .failed(error as? DownloadError ?? .unexpected("\(error)"))
            saved.leaveForeground()
            unsaved[saved.id] = saved
        }
        return saved
    }
}

extension DownloadRecord {
    /// Every change of state goes through here.
    package mutating func move(to next: DownloadState) {
        assert(state.canMove(to: next.kind) || state == next, "\(state.kind) -> \(next.kind)")
        state = next
    }

    var failure: DownloadError? {
        if case .failed(let error) = state { error } else { nil }
    }
}

extension SessionManager.Wish {
    fileprivate var isPause: Bool {
        if case .pause = self { true } else { false }
    }
}
