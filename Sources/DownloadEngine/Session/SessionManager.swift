import CSystem
import DownloadCore
import DownloadSystem
import Foundation

/// The owner of the downloads that run in this process. ``SessionBook`` decides what follows from each event. The
/// session manager asks the store, runs attempts, answers callers and publishes events.
package actor SessionManager: DownloadService {
    /// The parts of a session that are created when it begins: with ``start()`` for a background session, otherwise
    /// with the first call that adds or resumes downloads.
    struct Works {
        let context: AttemptContext
        let smallFiles: SmallFileLane
        /// The task that starts the server for other processes. Its value is a function that stops the server.
        let serving: Task<@Sendable () async -> Void, any Error>
        var ticker: Task<Void, Never>?
        /// The timer for the earliest moment at which an origin that had to wait may start downloads again; nil if this
        /// is not before the next tick.
        var holdTimer: Task<Void, Never>?
    }

    /// The state that the tick keeps from one run to the next: the number of the tick, the time that the machine has
    /// slept, and the limit that the timetable set last.
    struct Pulse {
        var number = 0
        var sleep = SleepWatch()
        var rateClock: RateClock
    }

    /// The state of ``fill()``: whether it runs, and whether another run was requested meanwhile.
    enum Filling { case idle, busy, wantedAgain }

    nonisolated let parts: SessionParts
    nonisolated var store: any DownloadStore { parts.store }
    nonisolated var isForeground: Bool { SessionIdentifier.isForeground(parts.identifier) }
    /// The name of this session for other sessions.
    package nonisolated var identifier: String { parts.identifier }
    let started: Date
    var works: Works?
    /// The places of the downloads that are in memory. Other queued downloads are only rows in the store, so a million
    /// of them cost no memory.
    let book: SharedBook
    var filling = Filling.idle
    var secrets = SecretKeeper()
    let broadcaster = EventBroadcaster()
    let hooks: HookWorkers
    let rateLimit: RateLimit
    var pulse: Pulse
    private let historyAge: Duration?
    /// The shutdown modes that clients request. The code that runs the session applies them.
    package nonisolated let shutdownRequests: AsyncStream<ShutdownMode>
    nonisolated let shutdownRequest: AsyncStream<ShutdownMode>.Continuation

    package init(
        parts: SessionParts, maxConcurrent: Int, maxPerHost: Int, hostLimits: [HostPattern: Int] = [:],
        rateLimit: Int64? = nil, timetable: RateTimetable = RateTimetable(), historyAge: Duration? = nil
    ) {
        self.parts = parts
        started = parts.time.date
        var scheduler = Scheduler(maxConcurrent: maxConcurrent, maxPerOrigin: maxPerHost)
        scheduler.hostLimits = hostLimits
        book = SharedBook(SessionBook(identifier: parts.identifier, scheduler: scheduler))
        hooks = HookWorkers(parts.hooks, store: parts.store, session: parts.identifier, notice: parts.notice)
        pulse = Pulse(rateClock: RateClock(timetable, usual: rateLimit))
        self.rateLimit = RateLimit(rateLimit)
        self.historyAge = historyAge
        (shutdownRequests, shutdownRequest) = AsyncStream.makeStream()
    }

    var context: AttemptContext? { works?.context }
    var smallFiles: SmallFileLane? { works?.smallFiles }

    /// Waits until the book has answered the waiter. Returns at once if the waiter is nil.
    @discardableResult
    func wait(_ waiter: SessionBook.Waiter?) async -> DownloadRecord? {
        guard let waiter else { return nil }
        return await withCheckedContinuation { book.waiting[waiter] = $0 }
    }

    // MARK: Beginning

    /// Starts a background session: takes the lock, answers clients, and continues where its predecessor stopped.
    package func start() async throws {
        try begin()
        _ = try await works?.serving.value
        try await store.releaseDeadSessions()
        try await store.requeue(session: identifier)
        startTicker()
        book.entered.queue.leaveToStore()
        await fill()
    }

    func begin() throws {
        if !book.entered.mayBegin { throw DownloadError.sessionUnavailable(.shuttingDown) }
        guard works == nil else { return }
        let transport = try parts.resources.start()
        book.entered.scheduler.mostByFiles = FreeDescriptors.downloads()
        if !isForeground { dlm_forget_code() }
        let isCrowded = book.entered.scheduler.maxConcurrent >= Self.crowd
        let pool = isCrowded ? BufferPool(capacity: BufferPool.crowdedCapacity) : BufferPool()
        let disk = DiskWriter(pool: pool, time: parts.time)
        let context = AttemptContext(
            parts: parts, transport: transport, disk: disk,
            committer: Committer(
                store: store, session: identifier, time: parts.time,
                unrecorded: { [weak self] records, error in await self?.keepUnrecorded(records, error) }),
            requests: SessionRequests(
                userAgent: "dlm/\(parts.version)", rateLimit: rateLimit,
                cookies: SessionCookies(areShared: isForeground), isCrowded: isCrowded),
            transfersEnded: { [weak self] id, control in Task { await self?.transfersEnded(id, control) } },
            announce: { [broadcaster] event in broadcaster.send(event) })
        let serving = Task { [parts, isForeground] in
            // Many `get` commands end before any client could connect, and need no server.
            if isForeground { try await parts.time.sleep(for: Self.quiet) }
            do {
                return try await parts.resources.serve(self)
            } catch {
                parts.notice("other processes cannot reach this session: \(error)")
                throw error
            }
        }
        works = Works(
            context: context,
            smallFiles: SmallFileLane(
                context: context, files: book.files, mostByFiles: book.entered.scheduler.mostByFiles, for: self),
            serving: serving)
    }

    /// Starts the tick. Called only after downloads were added, claimed or queued again. Otherwise the tick could
    /// remove an old download that this session is about to claim.
    func startTicker() {
        guard works != nil, works?.ticker == nil else { return }
        hooks.look()
        works?.ticker = Task { [weak self, time = parts.time] in
            var ticks = 0
            while !Task.isCancelled {
                if ticks % Self.ticksPerHour == 0 { await self?.clearHistory() }
                ticks += 1
                // Only cancellation ends the sleep early. After one more tick, the cancellation ends the loop, too.
                try? await time.sleep(for: Self.tickLength)
                await self?.tick()
            }
        }
    }

    static let tickLength = Duration.milliseconds(500)
    private static let ticksPerHour = 7200
    /// The number of ticks between two looks for hooks that dead sessions have left.
    private static let ticksBetweenLooks = 20
    /// The number of ticks between two reads of the kernel's routes, if no event causes a read.
    private static let ticksBetweenQuestions = 10
    /// If `maxConcurrent` is at least this number, the buffer pool is smaller and each transfer uses less memory.
    private static let crowd = 200
    private static let checkpointsAtOnce = 200
    /// The time from the beginning of a foreground session until it answers clients. Clients that find its lock wait
    /// that long.
    private static let quiet = Duration.milliseconds(150)

    private func tick() async {
        // If the store is still full, it is asked again at the next tick.
        try? await saveUnsaved()
        book.enter(onlyTransferring: true)
        let running = book.known.actives.filter { $0.stage == .running || $0.stage == .whole }
        // If many downloads run, they take turns, because each checkpoint writes a row.
        let turns = 1 + running.count / Self.checkpointsAtOnce
        pulse.number += 1
        for active in running where Int(active.record.id.rawValue) % turns == pulse.number % turns {
            active.control.tick()
        }
        if pulse.number % Self.ticksBetweenLooks == 0 { hooks.look() }
        watchNetwork()
        await keepTimes()
        let isReleased = book.known.scheduler.releaseHolds(at: parts.time.now)
        if isReleased || book.known.wantsQueue || book.known.wantsBeyond { await fill() } else { setHoldTimer() }
    }

    /// Wakes downloads when this machine's network is back, and drops connections when it changes. If nothing has
    /// changed and no download waits, this method costs one system call.
    private func watchNetwork() {
        let network = parts.network
        let slept = pulse.sleep.hasSlept(network.timeAsleep())
        let actives = book.known.actives
        let waiting = actives.filter { $0.record.state.waitsForNetwork }
        guard slept || !waiting.isEmpty || actives.contains(where: { $0.record.state == .running }) else { return }
        let isNews = network.hasChanged() || slept
        if isNews, let usable = network.usableAddresses() {
            context?.transport.dropConnections(except: slept ? [] : usable)
        }
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

    /// The number of events that are kept for clients that were disconnected.
    private static let eventsKept = 1_000_000
    /// The maximum number of downloads that are forgotten in one transaction. Other users of the store wait for one
    /// transaction at most. The end of the session also waits until the partial files of these downloads are deleted.
    private static let historyPart = 5_000

    /// Forgets the downloads that ended longer ago than the configuration says, and deletes their partial files.
    private func clearHistory() async {
        do {
            while let historyAge, book.entered.endReason == nil {
                let limit = parts.time.date.addingTimeInterval(-min(historyAge.inSeconds, 1e10))
                let removed = try await store.removeEnded(before: limit, limit: Self.historyPart)
                if removed.isEmpty { break }
                // The session publishes no event, because these are not its downloads. The store has already recorded
                // the removal in its log.
                for record in removed {
                    deletePartial(of: record, "\(record.id): removed, but its partial file could not be deleted: ")
                }
            }
            try await store.dropEvents(keeping: Self.eventsKept)
        } catch {
            parts.notice("the history cannot be cleared: \(error)")
        }
    }

    // MARK: The end

    package func pauseAll(_ reason: DownloadState.PauseReason) async {
        book.entered.endReason = reason
        hooks.end()
        // Downloads that are being changed come back to the queue first.
        while let waiter = book.entered.waitForChanges(of: book.entered.changing) { await wait(waiter) }
        let waiting = book.all.dropQueue()
        for id in book.entered.activeIDs { stop(id) }
        await withTaskGroup { group in
            for record in waiting { group.addTask { await self.pause(record, reason) } }
        }
        await wait(book.entered.waitUntilIdle())
        await pauseParked(reason)
        // If the store is still full, it shows these downloads as running, or small files as queued. After this session
        // they count as interrupted, and the complete files among them are found, because the downloads still belong to
        // this session.
        do { try await saveUnsaved() } catch { return }
        guard isForeground else { return }
        // Downloads that never started only change their state. If the store fails, only the reason is lost: the next
        // process finds them and shows them as interrupted.
        try? await store.pauseQueued(session: identifier, reason: reason)
        var paused = book.entered.takePaused()
        for index in paused.indices { paused[index].session = nil }
        // If this save fails, the next process still finds that the session has ended, because its lock is free.
        _ = try? await store.save(paused, session: identifier)
    }

    /// Starts no more downloads, and waits until the running downloads have ended. A ``pauseAll(_:)`` meanwhile ends
    /// the wait.
    package func finish() async {
        book.entered.isDraining = true
        for active in book.all.actives where active.isBackingOff { stop(active.record.id, .pause(.terminate)) }
        await wait(book.entered.waitUntilIdle())
        await hooks.wait()
    }

    package func close() async {
        if !book.entered.activeIDs.isEmpty { await pauseAll(book.entered.endReason ?? .user) }
        // Hooks of ended downloads run to their ends; a signal meanwhile ends them.
        await hooks.wait()
        if !book.entered.activeIDs.isEmpty { await pauseAll(book.entered.endReason ?? .user) }
        book.entered.endReason = book.entered.endReason ?? .user
        hooks.end()
        works?.holdTimer?.cancel()
        works?.ticker?.cancel()
        // The tick may still be deleting the partial files of downloads that it has just forgotten.
        await works?.ticker?.value
        shutdownRequest.finish()
        works?.serving.cancel()
        // If the server has not started, there is nothing to stop. Either its failure was already reported, or the
        // session closes before the server was to start.
        if let stopServing = try? await works?.serving.value { await stopServing() }
        await deleteUnfinished()
        if let context {
            context.transport.shutdown()
            context.strictHosts?.flush()
            // The files that wait hold the session.
            _ = book.files.takeBack()
            works = nil
            parts.resources.end()
        }
        await store.close()
        broadcaster.finish()
    }
}
