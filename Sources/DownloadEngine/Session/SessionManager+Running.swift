import CSystem
import DownloadCore
import DownloadSystem
import Foundation

/// The way of a download from the queue to the end of an attempt, and to the next attempt.
extension SessionManager {
    // MARK: Starting

    /// Starts all downloads that may start. If a call is running already, that call starts over instead.
    func fill() async {
        guard filling == .idle else {
            filling = .wantedAgain
            return
        }
        repeat {
            filling = .busy
            await fillOnce()
        } while filling == .wantedAgain || book.known.hasArrivals
        filling = .idle
        setHoldTimer()
    }

    /// Sets a timer for the earliest end of a hold, if the hold ends before the next tick.
    func setHoldTimer() {
        works?.holdTimer?.cancel()
        guard let end = book.known.scheduler.earliestRelease, book.known.endReason == nil else { return }
        if end - parts.time.now >= Self.tickLength { return }
        works?.holdTimer = Task { [weak self, time = parts.time] in
            do { try await time.sleep(until: end) } catch { return }
            await self?.holdEnded()
        }
    }

    private func holdEnded() async {
        // The timer must not be cancelled while it fills.
        works?.holdTimer = nil
        await fill()
    }

    private func fillOnce() async {
        _ = book.known.scheduler.releaseHolds(at: parts.time.now)
        await parkArrivals()
        book.learnSlots()
        startReady()
        while hasRoom {
            if book.known.wantsQueue { await loadMore() }
            await parkArrivals()
            if book.known.wantsBeyond { await loadBeyond() }
            guard works != nil, let next = book.known.start(at: parts.time.date, now: parts.time.now) else { break }
            switch next {
            case .attempt(let queued):
                // The pause between starts holds the origin, and the ready files must keep it, too.
                if queued.entry.common.request.pacing != nil { book.recallReady() }
                start(queued)
            case .parking(let record): await park([record])
            }
        }
        if smallFiles != nil, book.files.isLow {
            while book.known.scheduler.candidates.count < SmallFileQueue.most, book.known.queue.isReadable,
                await loadMore()
            {}
            makeReady()
        }
    }

    private var hasRoom: Bool { book.known.hasRoom && smallFiles?.isFull != true }

    /// Reads the next part of the queue from the store.
    /// - Returns: False if it is useless to ask again at once, because nothing new came or the store failed.
    @discardableResult
    private func loadMore() async -> Bool {
        let known = book.known.scheduler.candidates.count
        guard let answer = await readQueue(after: book.known.queue.position, excluding: []) else { return false }
        let entries = book.files.withoutKnown(book.known.didRead(answer))
        for entry in entries { book.known.offer(QueuedDownload(secrets.restored(entry)), at: parts.time.date) }
        return book.known.scheduler.candidates.count > known
    }

    private func loadBeyond() async {
        guard let busy = book.known.busyOrigins,
            let answer = await readQueue(after: nil, excluding: busy.flatMap(SourceURL.prefixes))
        else { return }
        let entries = book.known.didRead(book.files.withoutKnown(answer), without: busy)
        for entry in entries { book.known.enlist(QueuedDownload(secrets.restored(entry))) }
    }

    /// Returns nil if the store failed. It is asked again at the next tick then.
    private func readQueue(after position: QueuePosition?, excluding prefixes: [String]) async -> [DownloadEntry]? {
        book.known.queue.beginReading()
        let answer = try? await store.queued(
            session: identifier, after: position, excluding: prefixes, limit: SessionBook.windowSize)
        if answer == nil { book.known.queue.endReading() }
        return answer
    }

    private func start(_ queued: QueuedDownload) {
        guard let context else { return }
        let entry = queued.entry
        let multiplexes = entry.url.scheme == "https" && book.known.scheduler.hasWaiting(for: entry.origin)
        let failures = queued.failures ?? 0
        if let smallFiles, smallFiles.isUsable,
            let attempt = smallFiles.attempt(at: entry, prefersMultiplexing: multiplexes)
        {
            book.known.lend(entry.id, to: book.files.begin(attempt))
            if failures > 0 { book.entered.update(entry.id) { $0.failures = failures } }
            return attempt.begin()
        }
        var record = entry.record
        record.forgetLostFile()
        record.move(to: .running)
        let control = AttemptControl(record: record)
        var active = ActiveDownload(record, control)
        active.failures = failures
        let allowed = queued.timeLeft ?? record.request.timeouts.total
        active.deadline = allowed.map { parts.time.now + $0 }
        active.closes = record.closes(at: parts.time.date)
        book.known.begin(active)
        run(
            AttemptTask(
                record: record, context: context, control: control,
                prefersMultiplexing: multiplexes, deadline: active.deadline))
    }

    private nonisolated func run(_ attempt: sending AttemptTask) {
        Task {
            let outcome = await attempt.run()
            let decision = await self.parts.retrier?.decision(after: outcome, of: attempt.record)
            await self.ended(attempt.record, outcome, decision ?? .usePolicy)
        }
    }

    // MARK: Small files

    /// Runs small files on as ordinary attempts, which keep the bytes that have come.
    func becameOrdinary(_ attempts: [SmallFileAttempt]) {
        book.leave(attempts.map(\.id))
        // From here on, many slow downloads need little code. This takes 2 MiB from the peak of 1,000 of them.
        if attempts.count >= Self.manyRequests { dlm_forget_code() }
        for attempt in attempts { run(attempt.makeTask()) }
    }

    /// Begins a small file again as an ordinary attempt. The bytes that had come are given up. A stop that was requested
    /// of the first attempt also stops this one.
    func beginAgain(_ record: DownloadRecord) {
        book.leave([record.id])
        guard let context, book.entered[active: record.id] != nil else { return }
        let control = AttemptControl(record: record)
        if book.entered.beginAgain(record.id, control) { control.stop() }
        run(AttemptTask(record: record, context: context, control: control, prefersMultiplexing: false))
    }

    func ended(_ files: [SmallFileEnd]) async {
        let entered = book.end(files.lazy.map(\.file.id))
        for end in files {
            if end.failure == nil { book.known.scheduler.endPause(of: end.record.source.origin) }
            if end.failure != nil || entered.contains(end.file.id) {
                leave(Saved(record: end.record))
            } else {
                book.known.queue.depart(end.file.id)
            }
        }
        broadcaster.send(.smallFiles(files))
        await fill()
    }

    /// Gives free slots to the next small files, unless other downloads come first by now.
    private func startReady() {
        guard let first = book.files.first else { return }
        if book.known.scheduler.hasOneBefore(first.id, priority: first.priority) { return book.recallReady() }
        while hasRoom, book.known.scheduler.hasFreeSlot(for: first.origin),
            let (attempt, slot) = book.files.beginFirst()
        {
            book.known.scheduler.begin(slot, of: attempt.entry.origin)
            attempt.begin()
        }
    }

    /// Makes the next small files ready to follow the running ones in their slots.
    private func makeReady() {
        guard let smallFiles, smallFiles.isUsable, book.known.mayBegin else { return }
        let room = SmallFileQueue.most - book.files.count
        let files = book.known.takeNext(room, of: book.files.first?.origin) { entry in
            smallFiles.attempt(at: entry, prefersMultiplexing: entry.url.scheme == "https")
        }
        book.files.add(files, areAll: files.count < room)
    }

    // MARK: Ending

    /// Frees the slot of an attempt whose transfers are over. A call with the control of an earlier attempt has no
    /// effect.
    func transfersEnded(_ id: DownloadID, _ control: AttemptControl) async {
        if book.known.endTransfers(of: id, control) { await fill() }
    }

    private func ended(
        _ record: DownloadRecord, _ outcome: AttemptTask.Outcome, _ decision: RetryDecision
    ) async {
        let active = book.known.endAttempt(of: record.id)
        let reason = active?.stopReason
        var failed: FailedAttempt?
        switch outcome {
        case .completed: await completed(record)
        case .stopped: await stopped(record, reason)
        case .failed(let error, let pause): failed = FailedAttempt(error: error, pause: pause)
        case .renewed(let error):
            secrets.keep(record)
            failed = FailedAttempt(error: error, isRenewed: true)
        }
        if var failed {
            failed.failures = active?.failures ?? 0
            failed.deadline = active?.deadline
            failed.decision = decision
            // A pause is applied only if the download would have been tried again. Otherwise its failure is reported.
            // Any other reason to stop is always applied.
            if let reason, failed.isRepeated(record.request.retry) || !reason.isPause {
                await stopped(record, reason)
            } else {
                await self.failed(record, failed)
            }
        }
        await fill()
    }

    private func completed(_ ended: DownloadRecord) async {
        book.known.scheduler.endPause(of: ended.source.origin)
        var saved = Saved(record: ended)
        if ended.state != .completed {
            saved.record.move(to: .completed)
            saved.record.leaveForeground()
            saved = await save(saved.record)
        }
        leave(saved)
        announce(saved.record, DownloadEvent.didComplete)
    }

    private func failed(_ ended: DownloadRecord, _ failed: FailedAttempt) async {
        var record = ended
        let next = AfterFailure.decide(&record, failed, now: parts.time.now) {
            NetworkOutage.isDown(NetworkPath(ended), parts.network)
        }
        if let pause = Scheduler.Pause(after: failed, of: ended, next, now: parts.time.now) {
            book.known.scheduler.pause(ended.source.origin, pause)
            book.recallReady()
        }
        switch next {
        case .fail(let error):
            record.move(to: .failed(error))
            record.leaveForeground()
            let saved = await save(record)
            leave(saved)
            broadcaster.send(.didFail(DownloadSnapshot(record: saved.record), error))
        case .retry(let delay, let failures):
            let until = parts.time.date.addingTimeInterval(delay)
            await backOff(record, failed.error, .waiting(.retry(failed.error), until: until), failures, delay)
        case .network(let failures):
            // The download waits until it is woken, or until its time limit is over. At the time limit, the next
            // attempt begins and reports that the time is over.
            let delay = failed.deadline.map { ($0 - parts.time.now) / .seconds(1) } ?? Self.noEnd
            await backOff(record, failed.error, .waiting(.network(failed.error), until: nil), failures, delay)
        }
    }

    /// A delay that does not end by itself, in seconds.
    private static let noEnd = 1e9

    private func backOff(
        _ ended: DownloadRecord, _ error: DownloadError, _ state: DownloadState, _ failures: Int, _ delay: Double
    ) async {
        if let reason = book.known.endsAll { return await pause(ended, reason) }
        var record = ended
        record.move(to: state)
        let saved = await save(record)
        let (id, snapshot) = (record.id, DownloadSnapshot(record: saved.record))
        if let failure = saved.record.failure {
            leave(saved)
            return broadcaster.send(.didFail(snapshot, failure))
        }
        let endsAtOnce = book.known.backOff(saved.record, failures: failures, .betweenAttempts(saved.record))
        let timer = Task { [weak self, time = parts.time] in
            try? await time.sleep(for: .seconds(max(0, delay)))
            await self?.delayEnded(id)
        }
        if endsAtOnce { timer.cancel() }
        book.known.setTimer(of: id, timer)
        broadcaster.send(.willRetry(snapshot, error))
    }

    /// Continues a download whose delay between two attempts is over or was cut short.
    func delayEnded(_ id: DownloadID) async {
        let stop = book.known.endDelay(of: id, at: parts.time.date, now: parts.time.now)
        if let stop { return await stopped(stop.record, stop.reason) }
        await fill()
    }

    // MARK: Leaving

    /// Moves a download that is no longer active to another place in the session book, or out of the book.
    /// - Parameter place: The new place of the download, if the store has saved its record.
    func leave(_ saved: Saved, to place: Place? = nil) {
        let record = saved.record
        book.known.leave(record, to: saved.isUnsaved ? .unsaved(record) : place)
        if record.state.kind.isEnded { parts.stream?.closeSpool() }
        // A paused or cancelled download may be resumed as long as the session lives.
        if !parts.keepsUnfinished, record.failure != nil || book.known.endReason != nil { deleteUnfinished(record) }
        if DueHook(record) != nil { hooks.look() }
    }

    /// Deletes the unfinished files of a session whose records end with it, because no later session could continue
    /// them.
    func deleteUnfinished() async {
        guard !parts.keepsUnfinished, works != nil else { return }
        let left = try? await store.records(DownloadSelection(.states([.paused, .cancelled, .failed])))
        for record in left ?? [] { deleteUnfinished(record) }
    }

    /// Deletes the partial file of a download, but only its own. Another download may have a partial file of the same
    /// name, which may be the reason why this download failed.
    private func deleteUnfinished(_ record: DownloadRecord) {
        if record.resume.file != nil { deletePartial(of: record) }
    }

    /// Deletes the partial file of a download. If that fails, reports the error after `what`.
    func deletePartial(of record: DownloadRecord, _ what: @autoclosure () -> String = "") {
        do throws(DownloadError) {
            try DownloadRemoval.deleteFiles(of: record, deletesFile: false)
        } catch {
            parts.notice("\(what())\(error)")
        }
    }
}
