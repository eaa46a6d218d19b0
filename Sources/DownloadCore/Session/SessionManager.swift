import CSystem
import Foundation

/// Owns the downloads that run in this process: the list, its beginning and its end. The verbs, scheduling, running,
/// naming, storing and broadcasting live elsewhere.
public actor SessionManager: DownloadService {
    /// What a session is made of; transport, lock and socket come into being with the first download.
    package struct Parts: Sendable {
        let store: any DownloadStore
        let identifier: String
        /// Of the program.
        let version: String
        /// Takes the session's lock and starts the transport.
        let start: @Sendable () throws -> any Transport
        /// Makes the session answer other processes, and returns what ends that.
        let serve: @Sendable (any DownloadService) async throws -> @Sendable () async -> Void
        /// Gives the lock back.
        let end: @Sendable () -> Void
        /// Whether the process of another session lives.
        let isAlive: @Sendable (String) -> Bool
        /// What went wrong and is nobody's answer: for people.
        let notice: @Sendable (String) -> Void
        /// Nil: hooks are left to others.
        let hooks: (any HookRunner)?
        /// False: what is not complete when its work ends is deleted, for nothing is recorded that could go on with it.
        let keepsUnfinished: Bool
        /// See ``RunnerContext/watchesWriters``.
        let watchesWriters: Bool
        /// Where the one download goes that is not to become a file.
        let stream: StreamOutput?
        let network: any LocalNetwork
        let time: any TimeSource
        /// See ``RunnerContext/strictHosts``.
        let strictHosts: HSTSStore?

        package init(
            store: any DownloadStore, identifier: String, version: String,
            start: @escaping @Sendable () throws -> any Transport, end: @escaping @Sendable () -> Void,
            serve: @escaping @Sendable (any DownloadService) async throws -> @Sendable () async -> Void = { _ in {} },
            isAlive: @escaping @Sendable (String) -> Bool = { _ in false },
            notice: @escaping @Sendable (String) -> Void = { _ in }, hooks: (any HookRunner)? = nil,
            keepsUnfinished: Bool = true, watchesWriters: Bool = true, stream: StreamOutput? = nil,
            network: any LocalNetwork = KernelNetwork(), strictHosts: HSTSStore? = nil,
            time: any TimeSource = SystemTime()
        ) {
            self.time = time
            self.network = network
            self.hooks = hooks
            self.stream = stream
            self.strictHosts = strictHosts
            self.watchesWriters = watchesWriters
            self.store = store
            self.identifier = identifier
            self.version = version
            self.start = start
            self.serve = serve
            self.end = end
            self.isAlive = isAlive
            self.notice = notice
            self.keepsUnfinished = keepsUnfinished
        }
    }

    struct Entry {
        var record: DownloadRecord
        var control: RunnerControl
        var task: Task<Void, Never>?
        /// Attempts that failed in a row.
        var failures = 0
        /// It transfers nothing any more and needs no slot.
        var isFinishing = false
        /// Why it was asked to stop.
        var wish: Wish?
        /// When the time that the request gives it is over.
        var deadline: ContinuousClock.Instant?
        /// When its schedule says that it must stop.
        var closes: Date?
    }

    /// What becomes of a download once its attempt has stopped.
    enum Wish {
        case pause(DownloadState.PauseReason)
        case cancel
        /// It goes on, changed.
        case change(DownloadChange)
        /// It goes on when its schedule says so.
        case park
        case remove
    }

    nonisolated let parts: Parts
    nonisolated var store: any DownloadStore { parts.store }
    nonisolated var isForeground: Bool { SessionIdentifier.isForeground(parts.identifier) }
    /// What other sessions call this one.
    public nonisolated var identifier: String { parts.identifier }
    let started: Date
    var context: RunnerContext?
    var smallFiles: SmallFileFinisher?
    var scheduler: Scheduler
    let rateLimit: RateLimit
    private let historyAge: Double?
    /// What runs, waits, or is next; a million queued ones cost rows, not memory.
    var entries: [DownloadID: Entry] = [:]
    /// Entries that need no slot any more.
    var finishing = 0
    /// Records that wait for a slot.
    var candidates: [DownloadID: DownloadRecord] = [:]
    /// Attempts that failed in a row, of downloads that are queued for another.
    var retries: [DownloadID: Int] = [:]
    /// What is left of the time that their requests give them, of the same downloads.
    var timeLeft: [DownloadID: Duration] = [:]
    /// Paused from elsewhere: a foreground session stays for them.
    var held: [DownloadID: DownloadRecord] = [:]
    /// What the store could not take when an attempt ended: it still shows them at work.
    var unsaved: [DownloadID: DownloadRecord] = [:]
    /// Being changed in the store: not to be started meanwhile.
    var changing: Set<DownloadID> = []
    /// Want to change what is being changed.
    var changeWaiters: [CheckedContinuation<Void, Never>] = []
    /// What the store does not keep of requests that wait in it.
    var secrets = SecretKeeper()
    /// Calls that have given the store requests whose secrets are not kept yet.
    var handingOver = 0
    /// Being claimed: what is given anew for them is not in the store yet.
    var resuming: Set<DownloadID> = []
    let broadcaster = EventBroadcaster()
    /// Set once everything is to stop, with the reason that paused downloads show.
    var stopReason: DownloadState.PauseReason?
    /// What runs may end; nothing new is begun.
    var isFinishing = false
    var queuePosition: QueuePosition?
    var queueMayHaveMore = false
    /// With these origins left out, nothing waits in the store that is not kept ready.
    var nothingBeyond: Set<String>?
    var isFilling = false
    /// Asked to start what may start, perhaps while that is being done.
    var isFillWanted = false
    /// Changes of downloads between two attempts, on their way to the store: what becomes of those comes after.
    var saves: [DownloadID: Task<DownloadRecord, Never>] = [:]
    /// Ended since the last question to the store for more.
    var leftWhileLoading: Set<DownloadID> = []
    /// Something was left to the store since the last question to it for more: its answer may lack that.
    var leftToStore = false
    /// Queued again in the store while their last attempts were about to leave.
    var returning: Set<DownloadID> = []
    var hooks = HookBook()
    var sleep = SleepWatch()
    /// Wait for their times.
    var parked: [DownloadID: Parked] = [:]
    /// Of those, the earliest.
    var nextDue: Date?
    /// Came to the queue at the wrong time.
    var arrivals: [DownloadRecord] = []
    var rateClock: RateClock
    private var ticker: Task<Void, Never>?
    private var tickNumber = 0
    private var serving: Task<@Sendable () async -> Void, any Error>?
    var idleWaiters: [CheckedContinuation<Void, Never>] = []
    var leavers: [DownloadID: [CheckedContinuation<DownloadRecord, Never>]] = [:]
    /// What clients ask for; whoever runs the session obeys.
    public nonisolated let shutdownRequests: AsyncStream<ShutdownMode>
    nonisolated let shutdownRequest: AsyncStream<ShutdownMode>.Continuation

    package init(
        parts: Parts, maxConcurrent: Int, maxPerHost: Int, hostLimits: [HostPattern: Int] = [:],
        rateLimit: Int64? = nil, timetable: RateTimetable = RateTimetable(), historyAge: Double? = nil
    ) {
        rateClock = RateClock(timetable, usual: rateLimit)
        self.parts = parts
        started = parts.time.date
        scheduler = Scheduler(maxConcurrent: maxConcurrent, maxPerOrigin: maxPerHost)
        scheduler.hostLimits = hostLimits
        self.rateLimit = RateLimit(rateLimit)
        self.historyAge = historyAge
        (shutdownRequests, shutdownRequest) = AsyncStream.makeStream()
    }

    // MARK: Beginning

    /// A background session: takes the lock, answers, and goes on where its predecessor stopped.
    public func start() async throws {
        try begin()
        _ = try await serving?.value
        try await store.releaseDeadSessions()
        try await store.requeue(session: identifier)
        startTicker()
        leaveToStore()
        await fill()
    }

    func begin() throws {
        if stopReason != nil || isFinishing { throw DownloadError.sessionUnavailable(.shuttingDown) }
        guard context == nil else { return }
        let transport = try parts.start()
        if !isForeground { dlm_forget_code() }
        let isCrowded = scheduler.maxConcurrent >= Self.crowd
        let pool = isCrowded ? BufferPool(capacity: BufferPool.crowdedCapacity) : BufferPool()
        let disk = DiskWriter(pool: pool, time: parts.time)
        let context = RunnerContext(
            session: identifier, transport: transport, store: store, disk: disk, time: parts.time,
            finisher: Finisher(
                store: store, session: identifier, disk: disk,
                unrecorded: { [weak self] records, error in await self?.keepUnrecorded(records, error) }),
            userAgent: "dlm/\(parts.version)",
            rateLimit: rateLimit, watchesWriters: parts.watchesWriters, strictHosts: parts.strictHosts,
            cookies: SessionCookies(areShared: isForeground),
            stream: parts.stream, links: parts.hooks,
            isCrowded: isCrowded,
            transfersEnded: { [weak self] id, control in Task { await self?.transfersEnded(id, control) } },
            announce: { [broadcaster] event in broadcaster.send(event) })
        self.context = context
        smallFiles = SmallFileFinisher(context: context, calls: callsOfSmallFiles)
        serving = Task { [parts, isForeground] in
            // Many a `get` ends sooner than anybody could ask for it, and need not pay for a server.
            if isForeground { try await parts.time.sleep(for: Self.quiet) }
            do {
                return try await parts.serve(self)
            } catch {
                parts.notice("this session cannot be reached by other commands: \(error)")
                throw error
            }
        }
    }

    /// Once something is claimed: what is asked for again is not old any more, and is not to be forgotten meanwhile.
    func startTicker() {
        if ticker != nil || context == nil { return }
        lookForHooks()
        ticker = Task { [weak self, time = parts.time] in
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
    /// So many downloads at once hold little memory each.
    private static let crowd = 200
    private static let checkpointsAtOnce = 200
    /// From the beginning of a foreground session to its first answer; whoever finds its lock waits for that.
    private static let quiet = Duration.milliseconds(150)

    private func tick() async {
        // A store that is still full is asked again at the next tick.
        try? await saveUnsaved()
        learnSlots()
        let running = entries.values.filter { $0.record.state == .running && !$0.isFinishing }
        // Many at once take turns: each checkpoint is a row written.
        let turns = 1 + running.count / Self.checkpointsAtOnce
        tickNumber += 1
        for entry in running where Int(entry.record.id) % turns == tickNumber % turns { entry.control.tick() }
        if tickNumber % Self.ticksBetweenLooks == 0 { lookForHooks() }
        watchNetwork(tick: tickNumber)
        await keepTimes()
        let isReleased = scheduler.releaseHolds(at: parts.time.now)
        if isReleased || queueMayHaveMore && candidates.isEmpty { await fill() }
    }

    // MARK: History

    /// Events that are kept, for those who were away.
    private static let eventsKept = 1_000_000
    /// Downloads that are forgotten at once: the store and the end of the session wait no longer than for these.
    private static let historyPart = 500

    /// Forgets what ended longer ago than the configuration says, with what is left of it on disk.
    private func clearHistory() async {
        do {
            while let historyAge, stopReason == nil {
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
            parts.notice("\(record.id): forgotten, but its partial file is still there: \(error)")
        }
    }

    // MARK: The end

    public func pauseAll(_ reason: DownloadState.PauseReason) async {
        stopReason = reason
        endHooks()
        // They come back to the candidates.
        await waitForChanges(of: Array(changing))
        recallReady()
        // Those between two attempts are not queued in the store.
        let retrying = candidates.values.filter { retries[$0.id] != nil }
        candidates.removeAll()
        arrivals = []
        for id in entries.keys { stop(id) }
        await pauseParked(reason)
        await withTaskGroup { group in
            for record in retrying { group.addTask { await self.pause(record, reason) } }
        }
        await waitUntilIdle()
        // A store that is still full leaves them at work in it; with this session gone they are told as interrupted.
        try? await saveUnsaved()
        guard isForeground else { return }
        // What never started only changes its state. A store that fails here costs only the reason: with this session
        // gone, the next process finds them and tells them as interrupted.
        try? await store.pauseQueued(session: identifier, reason: reason)
        let kept = held.values.map { record in
            var record = record
            record.session = nil
            return record
        }
        held = [:]
        // The same holds for those that somebody had paused: the lock of a session that is gone is free.
        _ = try? await store.save(kept, session: identifier)
    }

    /// Starts nothing new, and returns when what runs has ended. A ``pauseAll(_:)`` meanwhile cuts it short.
    public func finish() async {
        isFinishing = true
        recallReady()
        for (id, entry) in entries where entry.record.state.kind == .waiting { stop(id, .pause(.terminate)) }
        await waitUntilIdle()
        await waitForHooks()
    }

    func waitUntilIdle() async {
        if !entries.isEmpty { await withCheckedContinuation { idleWaiters.append($0) } }
    }

    public func close() async {
        if !entries.isEmpty { await pauseAll(stopReason ?? .user) }
        // What has ended well ends with its hook; a signal meanwhile cuts that short.
        await waitForHooks()
        if !entries.isEmpty { await pauseAll(stopReason ?? .user) }
        stopReason = stopReason ?? .user
        ticker?.cancel()
        // Partial files of what it has just forgotten are deleted yet.
        await ticker?.value
        shutdownRequest.finish()
        serving?.cancel()
        // One that was not begun needs no end; why it could not be was told.
        if let stopServing = try? await serving?.value { await stopServing() }
        if let context {
            context.transport.shutdown()
            context.strictHosts?.flush()
            self.context = nil
            smallFiles = nil
            parts.end()
        }
        await store.close()
        broadcaster.finish()
    }
}
