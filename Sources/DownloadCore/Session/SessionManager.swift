import Foundation

/// Owns the downloads that run in this process: the list, the public verbs and the changes of state. Scheduling,
/// running, naming, storing and broadcasting live elsewhere.
public actor SessionManager: DownloadService {
    /// What a session is made of; transport and lock come into being with the first download.
    package struct Parts: Sendable {
        let store: any DownloadStore
        let identifier: String
        let userAgent: String
        /// Takes the session's lock and starts the transport.
        let start: @Sendable () throws -> any Transport
        /// Gives the lock back.
        let end: @Sendable () -> Void

        package init(
            store: any DownloadStore, identifier: String, userAgent: String,
            start: @escaping @Sendable () throws -> any Transport, end: @escaping @Sendable () -> Void
        ) {
            self.store = store
            self.identifier = identifier
            self.userAgent = userAgent
            self.start = start
            self.end = end
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
    }

    let parts: Parts
    var store: any DownloadStore { parts.store }
    var context: RunnerContext?
    var scheduler: Scheduler
    /// What runs, waits, or is next; a million queued ones cost rows, not memory.
    var entries: [DownloadID: Entry] = [:]
    /// Records that wait for a slot.
    var candidates: [DownloadID: DownloadRecord] = [:]
    /// Attempts that failed in a row, of downloads that are queued for another.
    var retries: [DownloadID: Int] = [:]
    /// What the store does not keep of requests that wait in it.
    var secrets = SecretKeeper()
    let broadcaster = EventBroadcaster()
    /// Set once everything is to stop, with the reason that paused downloads show.
    var stopReason: DownloadState.PauseReason?
    var queuePosition: QueuePosition?
    var queueMayHaveMore = false
    var isFilling = false
    /// Ended since the last question to the store for more.
    var leftWhileLoading: Set<DownloadID> = []
    var ticker: Task<Void, Never>?
    var idleWaiters: [CheckedContinuation<Void, Never>] = []

    package init(parts: Parts, maxConcurrent: Int, maxPerHost: Int) {
        self.parts = parts
        scheduler = Scheduler(maxConcurrent: maxConcurrent, maxPerOrigin: maxPerHost)
    }

    // MARK: Verbs

    public func add(_ requests: [DownloadRequest]) async throws -> [AddedDownload] {
        try begin()
        let added = try await store.add(requests, session: parts.identifier)
        for download in added where download.kind != .joined {
            broadcaster.send(.didAdd(DownloadSnapshot(record: download.record)))
            secrets.keep(download.record)
            offer(download.record)
        }
        await fill()
        return added
    }

    public func resume(_ ids: [DownloadID], overrides: RequestOverrides) async throws -> [ClaimedDownload] {
        try begin()
        try await store.releaseDeadSessions()
        let claimed = try await store.claim(ids, session: parts.identifier)
        for case .claimed(var record) in claimed {
            record.request = overrides.applied(to: record.request)
            secrets.keep(record)
            offer(record)
        }
        await fill()
        return claimed
    }

    public func snapshots(_ selection: DownloadSelection) async throws -> [DownloadSnapshot] {
        try await store.releaseDeadSessions()
        return try await store.records(selection).map { record in
            entries[record.id].map { entry in
                DownloadSnapshot(
                    record: entry.control.record,
                    progress: entry.control.progress(id: record.id, state: entry.record.state))
            } ?? DownloadSnapshot(record: record)
        }
    }

    public func remove(_ ids: [DownloadID], deletesFile: Bool) async throws {
        let removed = try await store.remove(ids, session: parts.identifier)
        for record in removed { try DownloadRemoval.deleteFiles(of: record, deletesFile: deletesFile) }
    }

    public func progress() -> [DownloadProgress] {
        entries.values.map { $0.control.progress(id: $0.record.id, state: $0.record.state) }
    }

    public func events() -> AsyncStream<DownloadEvent> { broadcaster.stream() }

    public func pauseAll(_ reason: DownloadState.PauseReason) async {
        stopReason = reason
        // Those between two attempts are not queued in the store.
        let retrying = candidates.values.filter { retries[$0.id] != nil }
        candidates.removeAll()
        for entry in entries.values {
            entry.control.stop()
            if entry.record.state.kind == .waiting { entry.task?.cancel() }
        }
        await withTaskGroup { group in
            for record in retrying { group.addTask { await self.pause(record, reason) } }
        }
        if !entries.isEmpty { await withCheckedContinuation { idleWaiters.append($0) } }
        // What never started only changes its state. A store that fails here costs only the reason: with this session
        // gone, the next process finds them and tells them as interrupted.
        try? await store.pauseQueued(session: parts.identifier, reason: reason)
    }

    public func close() async {
        if !entries.isEmpty { await pauseAll(stopReason ?? .user) }
        stopReason = stopReason ?? .user
        ticker?.cancel()
        if let context {
            context.transport.shutdown()
            self.context = nil
            parts.end()
        }
        await store.close()
        broadcaster.finish()
    }

    // MARK: Parts

    private func begin() throws {
        if stopReason != nil { throw DownloadError.sessionUnavailable(.shuttingDown) }
        guard context == nil else { return }
        let transport = try parts.start()
        let disk = DiskWriter(pool: BufferPool())
        context = RunnerContext(
            session: parts.identifier, transport: transport, store: store, disk: disk,
            finisher: Finisher(store: store, session: parts.identifier, disk: disk), userAgent: parts.userAgent,
            transfersEnded: { [weak self] id, control in Task { await self?.transfersEnded(id, control) } },
            announce: { [broadcaster] event in broadcaster.send(event) })
        ticker = Task { [weak self] in
            while !Task.isCancelled {
                try? await Task.sleep(for: .milliseconds(500))
                await self?.tick()
            }
        }
    }

    private func tick() async {
        for entry in entries.values where entry.record.state == .running && !entry.isFinishing { entry.control.tick() }
        if queueMayHaveMore, candidates.isEmpty { await fill() }
    }
}
