import CSystem
import DownloadCore
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
        } while filling == .wantedAgain || book.hasArrivals
        filling = .idle
        setHoldTimer()
    }

    /// Sets a timer for the earliest end of a hold, if the hold ends before the next tick.
    func setHoldTimer() {
        guard let end = book.scheduler.earliestRelease, book.endReason == nil else { return }
        let delay = end - parts.time.now
        if delay >= Self.tickLength { return }
        if let timer = works?.holdTimer {
            if timer.end <= end { return }
            timer.task.cancel()
        }
        let task = Task { [weak self, time = parts.time] in
            do { try await time.sleep(for: max(.zero, delay)) } catch { return }
            await self?.holdEnded()
        }
        works?.holdTimer = HoldTimer(end: end, task: task)
    }

    private func holdEnded() async {
        works?.holdTimer = nil
        await fill()
    }

    private func fillOnce() async {
        _ = book.scheduler.releaseHolds(at: parts.time.now)
        await parkArrivals()
        learnSlots()
        startReady()
        while hasRoom {
            if book.wantsQueue { await loadMore() }
            await parkArrivals()
            if book.wantsBeyond { await loadBeyond() }
            guard works != nil, let next = book.start(at: parts.time.date, now: parts.time.now) else { break }
            switch next {
            case .attempt(let queued):
                // The pause between starts holds the origin, and the ready files must keep it, too.
                if queued.entry.common.request.pacing != nil { recallReady() }
                start(queued)
            case .parking(let record): await park([record])
            }
        }
        if let smallFiles, smallFiles.files.isLow {
            while book.scheduler.candidateCount < SmallFileQueue.most, book.queue.isReadable, await loadMore() {}
            makeReady()
        }
    }

    private var hasRoom: Bool { book.hasRoom && smallFiles?.isFull != true }

    /// Reads the next part of the queue from the store.
    /// - Returns: False if it is useless to ask again at once, because nothing new came or the store failed.
    @discardableResult
    private func loadMore() async -> Bool {
        let known = book.scheduler.candidateCount
        book.queue.beginReading()
        let answer = try? await store.queued(
            session: identifier, after: book.queue.position, limit: SessionBook.windowSize)
        guard let answer else {
            // The store is asked again at the next tick.
            book.queue.endReading()
            return false
        }
        let entries = withoutSmallFiles(book.didRead(answer))
        for entry in entries { book.offer(QueuedDownload(secrets.restored(entry)), at: parts.time.date) }
        return book.scheduler.candidateCount > known
    }

    private func loadBeyond() async {
        guard let busy = book.busyOrigins else { return }
        book.queue.beginReading()
        let answer = try? await store.queued(
            session: identifier, excluding: busy.flatMap(SourceURL.prefixes), limit: SessionBook.windowSize)
        // If the store failed, it is asked again at the next tick.
        guard let answer else { return book.queue.endReading() }
        let entries = book.didRead(withoutSmallFiles(answer), without: busy)
        for entry in entries { book.enlist(QueuedDownload(secrets.restored(entry))) }
    }

    private func start(_ queued: QueuedDownload) {
        guard let context else { return }
        let entry = queued.entry
        let multiplexes = entry.url.scheme == "https" && book.scheduler.hasWaiting(for: entry.origin)
        let failures = queued.failures ?? 0
        if let smallFiles, smallFiles.isUsable,
            let file = smallFiles.file(of: entry, prefersMultiplexing: multiplexes)
        {
            let (attempt, slot) = smallFiles.files.begin(file, in: smallFiles)
            book.lend(entry.id, to: slot)
            if failures > 0 {
                enterSmallFiles()
                book.update(entry.id) { $0.failures = failures }
            }
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
        book.begin(active)
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

    /// The calls from the small files of the session to the session.
    var callsOfSmallFiles: SmallFileLane.Calls {
        SmallFileLane.Calls(
            becameOrdinary: { attempts in await self.becameOrdinary(attempts) },
            begin: { records in for record in records { await self.beginAgain(record) } },
            slotsMoved: { await self.fill() },
            ended: { files in await self.ended(files) })
    }

    private func becameOrdinary(_ attempts: [SmallFileAttempt]) {
        leaveSmallFiles(attempts.map(\.id))
        // From here on, many slow downloads need little code. This takes 2 MiB from the peak of 1,000 of them.
        if attempts.count >= Self.manyRequests { dlm_forget_code() }
        for attempt in attempts { run(attempt.makeTask()) }
    }

    /// Begins a small file again as an ordinary attempt. A stop that was requested of the first attempt also stops this
    /// one.
    private func beginAgain(_ record: DownloadRecord) {
        leaveSmallFiles([record.id])
        guard let context, book[active: record.id] != nil else { return }
        let control = AttemptControl(record: record)
        if book.beginAgain(record.id, control) { control.stop() }
        run(AttemptTask(record: record, context: context, control: control, prefersMultiplexing: false))
    }

    /// Gives small files their places in the book, before ordinary attempts at them begin.
    private func leaveSmallFiles(_ ids: [DownloadID]) {
        enterSmallFiles()
        _ = smallFiles?.files.remove(ids)
    }

    private func ended(_ files: [SmallFileEnd]) async {
        learnSlots()
        let entered = smallFiles?.files.remove(files.lazy.map(\.file.id)) ?? []
        for end in files {
            if end.failure == nil { book.scheduler.endPause(of: end.record.source.origin) }
            if end.failure != nil || entered.contains(end.file.id) {
                leave(Saved(record: end.record))
            } else {
                book.queue.depart(end.file.id)
            }
        }
        broadcaster.send(.smallFiles(files))
        await fill()
    }

    /// Enters into the book which slots the small files have passed on or freed. Called before anything that depends on
    /// slots.
    func learnSlots() { learn(smallFiles?.files.takeNews() ?? []) }

    private func learn(_ news: [SmallFileQueue.News]) {
        for news in news {
            switch news {
            case .passed(let id, let slot): book.passSlot(from: id, to: slot)
            case .freed(let slot): book.freeSlot(slot)
            }
        }
    }

    /// Gives a place in the book to each small file that has begun. Called before anything that looks for active
    /// downloads, and again after each wait.
    /// - Parameter onlyTransferring: Whether files whose bytes have come are left out.
    func enterSmallFiles(onlyTransferring: Bool = false) {
        guard let smallFiles else { return }
        let (news, begun) = smallFiles.files.enter(onlyTransferring: onlyTransferring)
        learn(news)
        for file in begun {
            let active = ActiveDownload(file.attempt.makeRecord(), file.attempt.control)
            book.enter(active, from: file.slot)
        }
    }

    /// Puts the small files that have not begun back into the queue. Called when other downloads may come first now.
    func recallReady() {
        let entries = smallFiles?.files.takeBack() ?? []
        learnSlots()
        for entry in entries { book.enlist(QueuedDownload(entry)) }
    }

    /// Gives a place in the book to every small file, begun or not. Called before downloads are changed.
    func recallSmallFiles() {
        recallReady()
        enterSmallFiles()
    }

    /// Leaves out the downloads that the store still shows as queued although they are among the small files.
    private func withoutSmallFiles(_ entries: [DownloadEntry]) -> [DownloadEntry] {
        smallFiles?.files.withoutKnown(entries) ?? entries
    }

    /// Gives free slots to the next small files, unless other downloads come first by now.
    private func startReady() {
        guard let smallFiles, let first = smallFiles.files.first else { return }
        if book.scheduler.hasOneBefore(first.id, priority: first.priority) { return recallReady() }
        while hasRoom, book.scheduler.hasFreeSlot(for: first.origin),
            let (attempt, slot) = smallFiles.files.beginFirst(in: smallFiles)
        {
            book.scheduler.begin(slot, of: attempt.entry.origin)
            attempt.begin()
        }
    }

    /// Makes the next small files ready to follow the running ones in their slots.
    private func makeReady() {
        guard let smallFiles, smallFiles.isUsable, book.mayBegin else { return }
        let room = SmallFileQueue.most - smallFiles.files.count
        let files = book.takeNext(room, of: smallFiles.files.first?.origin) { entry in
            smallFiles.file(of: entry, prefersMultiplexing: entry.url.scheme == "https")
        }
        smallFiles.files.add(files, areAll: files.count < room)
    }

    // MARK: Ending

    /// Frees the slot of an attempt whose transfers are over. A call with the control of an earlier attempt has no
    /// effect.
    func transfersEnded(_ id: DownloadID, _ control: AttemptControl) async {
        learnSlots()
        if book.endTransfers(of: id, control) { await fill() }
    }

    /// Returns the event of a completed download, or of a failed one if the store could not save it.
    private func endEvent(of record: DownloadRecord) -> DownloadEvent {
        let snapshot = DownloadSnapshot(record: record)
        return record.failure.map { .didFail(snapshot, $0) } ?? .didComplete(snapshot)
    }

    private func ended(
        _ record: DownloadRecord, _ outcome: AttemptTask.Outcome, _ decision: RetryDecision
    ) async {
        learnSlots()
        let active = book.endAttempt(of: record.id)
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
        book.scheduler.endPause(of: ended.source.origin)
        var saved = Saved(record: ended)
        if ended.state != .completed {
            saved.record.move(to: .completed)
            saved.record.leaveForeground()
            saved = await save(saved.record)
        }
        leave(saved)
        broadcaster.send(endEvent(of: saved.record))
    }

    private func failed(_ ended: DownloadRecord, _ failed: FailedAttempt) async {
        var record = ended
        let next = AfterFailure.decide(&record, failed, now: parts.time.now) {
            NetworkOutage.isDown(NetworkPath(ended), parts.network)
        }
        if let pause = Scheduler.Pause(after: failed, of: ended, next, now: parts.time.now) {
            book.scheduler.pause(ended.source.origin, pause)
            recallReady()
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
        if let reason = book.endsAll { return await pause(ended, reason) }
        var record = ended
        record.move(to: state)
        let saved = await save(record)
        let (id, snapshot) = (record.id, DownloadSnapshot(record: saved.record))
        if let failure = saved.record.failure {
            leave(saved)
            return broadcaster.send(.didFail(snapshot, failure))
        }
        let endsAtOnce = report { $0.backOff(saved.record, failures: failures, .betweenAttempts(saved.record)) }
        let timer = Task { [weak self, time = parts.time] in
            try? await time.sleep(for: .seconds(max(0, delay)))
            await self?.delayEnded(id)
        }
        if endsAtOnce { timer.cancel() }
        book.setTimer(of: id, timer)
        broadcaster.send(.willRetry(snapshot, error))
    }

    /// Continues a download whose delay between two attempts is over or was cut short.
    func delayEnded(_ id: DownloadID) async {
        let stop = report { $0.endDelay(of: id, at: parts.time.date, now: parts.time.now) }
        if let stop { return await stopped(stop.record, stop.reason) }
        await fill()
    }

    // MARK: Leaving

    /// Moves a download that is no longer active to another place in the session book, or out of the book.
    /// - Parameter place: The new place of the download, if the store has saved its record.
    func leave(_ saved: Saved, to place: Place? = nil) {
        let record = saved.record
        report { $0.leave(record, to: saved.isUnsaved ? .unsaved(record) : place) }
        // A paused or cancelled download may be resumed as long as the session lives.
        if !parts.keepsUnfinished, record.failure != nil || book.endReason != nil { deleteUnfinished(record) }
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
        guard record.resume.file != nil else { return }
        do throws(DownloadError) {
            try DownloadRemoval.deleteFiles(of: record, deletesFile: false)
        } catch {
            parts.notice("\(error)")
        }
    }
}
