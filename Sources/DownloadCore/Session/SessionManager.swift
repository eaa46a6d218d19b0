import CSystem
import Foundation

/// Owns the downloads that run in this process. What follows from what happens to them is decided by ``SessionBook``; the
/// session manager asks the store, runs attempts, answers callers and publishes events.
package actor SessionManager: DownloadService {
    /// What comes into being with the first download.
    struct Works {
        let context: RunnerContext
        let smallFiles: SmallFileLane
        /// Begins to answer other processes; its value ends that.
        let serving: Task<@Sendable () async -> Void, any Error>
        var ticker: Task<Void, Never>?
    }

    /// What is compared twice a second with how it was before.
    struct Pulse {
        var number = 0
        var sleep = SleepWatch()
        var rateClock: RateClock
    }

    /// What may start is being started, perhaps while that is asked for again.
    enum Filling { case idle, busy, wantedAgain }

    nonisolated let parts: SessionParts
    nonisolated var store: any DownloadStore { parts.store }
    nonisolated var isForeground: Bool { SessionIdentifier.isForeground(parts.identifier) }
    /// What other sessions call this one.
    package nonisolated var identifier: String { parts.identifier }
    let started: Date
    var works: Works?
    /// Where every download is; a million queued ones cost rows in the store, not memory.
    var book: SessionBook
    /// The callers that wait, by their numbers in the book.
    var waiting: [SessionBook.Waiter: CheckedContinuation<DownloadRecord?, Never>] = [:]
    var filling = Filling.idle
    /// What the store does not keep of requests that wait in it.
    var secrets = SecretKeeper()
    let broadcaster = EventBroadcaster()
    let hooks: HookWorkers
    let rateLimit: RateLimit
    var pulse: Pulse
    private let historyAge: Double?
    /// What clients ask for; whoever runs the session obeys.
    package nonisolated let shutdownRequests: AsyncStream<ShutdownMode>
    nonisolated let shutdownRequest: AsyncStream<ShutdownMode>.Continuation

    package init(
        parts: SessionParts, maxConcurrent: Int, maxPerHost: Int, hostLimits: [HostPattern: Int] = [:],
        rateLimit: Int64? = nil, timetable: RateTimetable = RateTimetable(), historyAge: Double? = nil
    ) {
        self.parts = parts
        started = parts.time.date
        var scheduler = Scheduler(maxConcurrent: maxConcurrent, maxPerOrigin: maxPerHost)
        scheduler.hostLimits = hostLimits
        book = SessionBook(identifier: parts.identifier, scheduler: scheduler)
        hooks = HookWorkers(parts.hooks, store: parts.store, session: parts.identifier, notice: parts.notice)
        pulse = Pulse(rateClock: RateClock(timetable, usual: rateLimit))
        self.rateLimit = RateLimit(rateLimit)
        self.historyAge = historyAge
        (shutdownRequests, shutdownRequest) = AsyncStream.makeStream()
    }

    var context: RunnerContext? { works?.context }
    var smallFiles: SmallFileLane? { works?.smallFiles }

    // MARK: The book

    /// Reports an event to the book, and answers the callers whose waits are over.
    @discardableResult
    func report<Result>(_ event: (inout SessionBook) -> Result) -> Result {
        defer { if book.hasAnswers { answerWaiters() } }
        return event(&book)
    }

    private func answerWaiters() {
        for answer in book.takeAnswers() {
            waiting.removeValue(forKey: answer.waiter)?.resume(returning: answer.record)
        }
    }

    /// Returns once the book has answered the waiter; nil: there is nothing to wait for.
    @discardableResult
    func wait(_ waiter: SessionBook.Waiter?) async -> DownloadRecord? {
        guard let waiter else { return nil }
        return await withCheckedContinuation { waiting[waiter] = $0 }
    }

    // MARK: Beginning

    /// A background session: takes the lock, answers, and goes on where its predecessor stopped.
    package func start() async throws {
        try begin()
        _ = try await works?.serving.value
        try await store.releaseDeadSessions()
        try await store.requeue(session: identifier)
        startTicker()
        book.queue.leaveToStore()
        await fill()
    }

    func begin() throws {
        if !book.mayBegin { throw DownloadError.sessionUnavailable(.shuttingDown) }
        guard works == nil else { return }
        let transport = try parts.start()
        book.scheduler.mostByFiles = FreeDescriptors.downloads()
        if !isForeground { dlm_forget_code() }
        let isCrowded = book.scheduler.maxConcurrent >= Self.crowd
        let pool = isCrowded ? BufferPool(capacity: BufferPool.crowdedCapacity) : BufferPool()
        let disk = DiskWriter(pool: pool, time: parts.time)
        let context = RunnerContext(
            session: identifier, transport: transport, store: store, disk: disk, time: parts.time,
            committer: Committer(
                store: store, session: identifier, time: parts.time,
                unrecorded: { [weak self] records, error in await self?.keepUnrecorded(records, error) }),
            userAgent: "dlm/\(parts.version)",
            rateLimit: rateLimit, watchesWriters: parts.watchesWriters, strictHosts: parts.strictHosts,
            cookies: SessionCookies(areShared: isForeground),
            stream: parts.stream, adapter: parts.adapter, links: parts.hooks,
            isCrowded: isCrowded,
            transfersEnded: { [weak self] id, control in Task { await self?.transfersEnded(id, control) } },
            announce: { [broadcaster] event in broadcaster.send(event) })
        let serving = Task { [parts, isForeground] in
            // Many a `get` ends sooner than anybody could ask for it, and need not pay for a server.
            if isForeground { try await parts.time.sleep(for: Self.quiet) }
            do {
                return try await parts.serve(self)
            } catch {
                parts.notice("other processes cannot reach this session: \(error)")
                throw error
            }
        }
        works = Works(
            context: context,
            smallFiles: SmallFileLane(
                context: context, mostByFiles: book.scheduler.mostByFiles, calls: callsOfSmallFiles),
            serving: serving)
    }

    /// Once something is claimed: what is asked for again is not old any more, and is not to be forgotten meanwhile.
    func startTicker() {
        guard works != nil, works?.ticker == nil else { return }
        hooks.look()
        works?.ticker = Task { [weak self, time = parts.time] in
            while !Task.isCancelled {
                await self?.clearHistory()
                for _ in 0..<Self.ticksPerHour where !Task.isCancelled {
                    // Only cancellation ends it early, and the loop with it.
                    try? await time.sleep(for: .milliseconds(500))
                    await self?.tick()
                }
            }
        }
    }

    private static let ticksPerHour = 7200
    /// For hooks that a session has left which died since.
    private static let ticksBetweenLooks = 20
    /// The number of looks at the clock between two questions to the kernel's tables that no event has caused.
    private static let ticksBetweenQuestions = 10
    /// So many downloads at once hold little memory each.
    private static let crowd = 200
    private static let checkpointsAtOnce = 200
    /// From the beginning of a foreground session to its first answer; whoever finds its lock waits for that.
    private static let quiet = Duration.milliseconds(150)

    private func tick() async {
        // A store that is still full is asked again at the next tick.
        try? await saveUnsaved()
        learnSlots()
        let running = book.actives.filter { $0.stage == .running || $0.stage == .whole }
        // Many at once take turns: each checkpoint is a row written.
        let turns = 1 + running.count / Self.checkpointsAtOnce
        pulse.number += 1
        for active in running where Int(active.record.id) % turns == pulse.number % turns { active.control.tick() }
        if pulse.number % Self.ticksBetweenLooks == 0 { hooks.look() }
        watchNetwork()
        await keepTimes()
        let isReleased = book.scheduler.releaseHolds(at: parts.time.now)
        if isReleased || book.wantsQueue { await fill() }
    }

    /// What becomes of downloads when this machine's network goes, comes back or changes. With nothing to do and no news it
    /// costs one system call.
    private func watchNetwork() {
        let network = parts.network
        let slept = pulse.sleep.hasSlept(network.timeAsleep())
        let waiting = book.actives.filter { $0.record.state.waitsForNetwork }
        guard slept || !waiting.isEmpty || book.actives.contains(where: { $0.record.state == .running }) else { return }
        let isNews = network.hasChanged() || slept
        if isNews, let usable = network.usableAddresses() { context?.transport.leave(slept ? [] : usable) }
        if waiting.isEmpty || !isNews && pulse.number % Self.ticksBetweenQuestions != 0 { return }
        var known: [NetworkPath: Bool] = [:]
        for active in waiting {
            let path = NetworkPath(active.record)
            let isDown = known[path] ?? NetworkOutage.isDown(path, network)
            known[path] = isDown
            if !isDown { active.timer?.cancel() }
        }
    }

    // MARK: History

    /// Events that are kept, for those who were away.
    private static let eventsKept = 1_000_000
    /// Downloads that are forgotten at once: the store and the end of the session wait no longer than for these.
    private static let historyPart = 500

    /// Forgets what ended longer ago than the configuration says, with what is left of it on disk.
    private func clearHistory() async {
        do {
            while let historyAge, book.stopReason == nil {
                let limit = parts.time.date.addingTimeInterval(-historyAge)
                let removed = try await store.removeEnded(before: limit, limit: Self.historyPart)
                if removed.isEmpty { break }
                for record in removed { forget(record) }
            }
            try await store.dropEvents(keeping: Self.eventsKept)
        } catch {
            parts.notice("the history cannot be cleared: \(error)")
        }
    }

    private func forget(_ record: DownloadRecord) {
        // No event: these are not the downloads of this session, and the log of the store tells it.
        do {
            try DownloadRemoval.deleteFiles(of: record, deletesFile: false)
        } catch {
            parts.notice("\(record.id): removed, but its partial file could not be deleted: \(error)")
        }
    }

    // MARK: The end

    package func pauseAll(_ reason: DownloadState.PauseReason) async {
        book.stopReason = reason
        hooks.end()
        // What is changed comes back to the queue.
        await waitForChanges(of: book.changing)
        recallReady()
        let waiting = report { $0.dropQueue() }
        for id in book.activeIDs { stop(id) }
        await withTaskGroup { group in
            for record in waiting { group.addTask { await self.pause(record, reason) } }
        }
        await wait(book.waitUntilIdle())
        await pauseParked(reason)
        // A store that is still full leaves them at work in it; with this session gone they are told as interrupted.
        try? await saveUnsaved()
        guard isForeground else { return }
        // What never started only changes its state. A store that fails here costs only the reason: with this session
        // gone, the next process finds them and tells them as interrupted.
        try? await store.pauseQueued(session: identifier, reason: reason)
        let paused = report { $0.takePaused() }.map { record in
            var record = record
            record.session = nil
            return record
        }
        // The same holds for those that somebody had paused: the lock of a session that is gone is free.
        _ = try? await store.save(paused, session: identifier)
    }

    /// Starts nothing new, and returns when what runs has ended. A ``pauseAll(_:)`` meanwhile cuts it short.
    package func finish() async {
        book.isFinishing = true
        recallReady()
        for active in book.actives where active.isBackingOff { stop(active.record.id, .pause(.terminate)) }
        await wait(book.waitUntilIdle())
        await hooks.wait()
    }

    package func close() async {
        if !book.activeIDs.isEmpty { await pauseAll(book.stopReason ?? .user) }
        // What has ended well ends with its hook; a signal meanwhile cuts that short.
        await hooks.wait()
        if !book.activeIDs.isEmpty { await pauseAll(book.stopReason ?? .user) }
        book.stopReason = book.stopReason ?? .user
        hooks.end()
        works?.ticker?.cancel()
        // Partial files of what it has just forgotten are deleted yet.
        await works?.ticker?.value
        shutdownRequest.finish()
        works?.serving.cancel()
        // One that was not begun needs no end; why it could not be was told.
        if let stopServing = try? await works?.serving.value { await stopServing() }
        await deleteUnfinished()
        if let context {
            context.transport.shutdown()
            context.strictHosts?.flush()
            works = nil
            parts.end()
        }
        await store.close()
        broadcaster.finish()
    }
}
