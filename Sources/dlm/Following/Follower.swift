import DownloadKit
import Synchronization

/// The part of a command that requests downloads and follows them until each has ended, in this process or another.
final class Follower: Sendable {
    enum Purpose: Sendable {
        /// The command waits for the downloads. Those that another process gives up continue here, with these overrides.
        case get(RequestOverrides)
        /// The command waits for the downloads in this process only.
        case resume(RequestOverrides)
        /// The command only watches the downloads. With `any` the first end is enough.
        case watch(any: Bool)
        /// The command watches all running downloads, as long as there are any.
        case watchAll

        /// Whether the command begins no downloads, so that a signal pauses none.
        var isWatch: Bool {
            switch self {
            case .get, .resume: false
            case .watch, .watchAll: true
            }
        }
    }

    /// A step of the follower. Steps are performed one at a time, in the order in which they come.
    typealias Step = @Sendable (Follower) async throws -> Void

    /// The most downloads that are read in one call of the service, or taken from a shared queue.
    static let chunk = 500

    let service: any SessionRouting
    let purpose: Purpose
    let ledger = Mutex(Ledger())
    let narrator: Narrator
    let display: ProgressDisplay
    private let inbox: AsyncStream<Step>.Continuation
    private let steps: AsyncStream<Step>
    /// Requests the store's log, which has the events of other processes. Most commands never need the log.
    let logRequest = Signal()
    /// Reports that the log is open. From then on no event is missed.
    let logOpening = Signal()
    let isLogOpen = Atomic(false)
    let idleness = Mutex(Idleness())
    let checks = Mutex<[DownloadID: JoinedCheck]>([:])
    let fate: Context.FateOfFile
    let run: WorkerRun?

    init(
        _ service: any SessionRouting, narrator: Narrator, display: ProgressDisplay, purpose: Purpose,
        fate: @escaping Context.FateOfFile, run: WorkerRun? = nil
    ) {
        self.fate = fate
        self.run = run
        self.service = service
        self.narrator = narrator
        self.display = display
        self.purpose = purpose
        (steps, inbox) = AsyncStream.makeStream()
    }

    func perform(_ step: @escaping Step) { inbox.yield(step) }

    @discardableResult
    func add(_ given: RequestList) async throws -> [AddedDownload] {
        let requests = try run?.selected(given) ?? given
        if requests.isEmpty { return [] }
        ledger.withLock { $0.asked += requests.count }
        let added = try await service.add(requests)
        noteChecks(requests, added)
        run?.began(requests, added)
        perform { await $0.added(added) }
        return added
    }

    func resume(_ snapshots: [DownloadSnapshot]) async throws {
        guard case .resume(let overrides) = purpose else { return }
        ledger.withLock { $0.asked += snapshots.count }
        let active = snapshots.filter { $0.record.state.kind.isActive && $0.isAttended }.map(\.id)
        let claimed = try await service.resume(snapshots.map(\.id), overrides: overrides)
        perform { follower in
            follower.display.expect(claimed.map(\.record.displayName))
            follower.claimed(claimed, active: Set(active))
        }
    }

    /// Follows downloads, as `ask` has read them, without changing them.
    func watch(_ snapshots: [DownloadSnapshot]) {
        ledger.withLock { $0.asked += snapshots.count }
        perform { await $0.watched(snapshots) }
    }

    func reject(_ document: RejectedDocument) {
        narrator.reject(document)
        ledger.withLock { $0.failures.reject(status: document.exitStatus) }
        run?.rejected(document)
    }

    /// Requests downloads with `ask`, which calls `add`, `resume` or `watch`, and follows them, at most for `limit`.
    /// - Returns: The exit status.
    func follow(
        limit: Seconds? = nil, keys: ForegroundKeys? = nil, _ ask: @escaping @Sendable (Follower) async throws -> Void
    ) async throws -> Int32 {
        let begin = narrator.time.now
        let events = await service.events()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [self] in
                for await group in events.groups { perform { $0.handle(group) } }
                serviceEnded()
            }
            group.addTask { [self] in
                do {
                    if purpose.isWatch {
                        logRequest.send()
                        await logOpening.wait()
                    }
                    try await ask(self)
                    if case .watchAll = purpose { return }
                    perform { follower in follower.ledger.withLock { $0.hasAll = true } }
                } catch {
                    perform { try $0.cannotAsk(error) }
                }
            }
            group.addTask { [self] in await readLog() }
            group.addTask { [self] in await display.run(self) { keys?.tick() } }
            if let keys { group.addTask { [self] in await keys.run(self) } }
            if let limit {
                group.addTask { [self] in
                    try await narrator.time.sleep(for: .seconds(limit.value))
                    perform { $0.timeIsUp(limit) }
                }
            }
            defer {
                display.end()
                narrator.tellFolders()
            }
            try await listen()
            group.cancelAll()
        }
        narrator.summarize(ledger.withLock { $0 }, seconds: (narrator.time.now - begin) / .seconds(1))
        return ledger.withLock(\.exitStatus)
    }

    /// Handles the first signal. A command that only watches stops no download. Otherwise this process's downloads stop
    /// with their resume data on disk, and a notice says how to continue.
    func interrupt(_ reason: DownloadState.PauseReason) async {
        ledger.withLock { $0.isInterrupted = true }
        if purpose.isWatch {
            display.freeze()
            return narrator.tellFolders()
        }
        // The pause does not wait for the terminal, because a terminal that takes no output (Ctrl-S) must not delay the
        // saves.
        async let pausing: Void = service.pauseAll(reason)
        display.freeze()
        await pausing
        narrator.tellFolders()
        let (ids, elsewhere, hasRest) = ledger.withLock { ($0.here.sorted(), $0.elsewhere.count, !$0.hasAll) }
        // Without snapshots, only the ids are reported.
        let snapshots = try? await service.snapshots(.ids(Array(ids.prefix(Narrator.pausedLines + 1))))
        narrator.paused(ids: ids, snapshots: snapshots ?? [], elsewhere: elsewhere, hasRest: hasRest)
    }

    private func listen() async throws {
        for await step in steps {
            try await step(self)
            // Too many downloads have failed, or the manifest cannot be written. No more downloads begin, and the bytes
            // of the running ones are kept.
            if let reason = run?.stopReason {
                ledger.withLock { $0.isOver = true }
                return narrator.console.report(reason)
            }
            if ledger.withLock(\.isDone) { return }
        }
    }

    func serviceEnded() { perform { _ in throw DownloadError.sessionUnavailable(.shuttingDown) } }

    private func handle(_ group: EventGroup) {
        switch group {
        case .added where narrator.tellsPathsOnly: break
        case .smallFiles(let files) where takesPlainly: handle(files)
        default: for event in group.events { handle(event) }
        }
    }

    private func added(_ downloads: [AddedDownload]) async {
        if display.mode == .bar { display.expect(downloads.map(\.record.displayName)) }
        var joined: [DownloadID] = []
        ledger.withLock { ledger in
            for download in downloads {
                let isJoined = download.kind == .joined
                ledger.expect(download.id, isJoined ? .elsewhere : .here)
                if isJoined { joined.append(download.id) }
            }
        }
        if joined.isEmpty { return }
        logRequest.send()
        // A look before the log is open could miss a change; ``logOpened()`` looks at these downloads then.
        if isLogOpen.load(ordering: .relaxed) { await look(at: joined) }
    }

    private func claimed(_ downloads: [ClaimedDownload], active: Set<DownloadID>) {
        var elsewhere: [DownloadRecord] = []
        for download in downloads {
            switch download.kind {
            case .claimed: ledger.withLock { $0.expect(download.record.id, .here) }
            case .running: elsewhere.append(download.record)
            case .completed: wasComplete(DownloadSnapshot(record: download.record))
            }
        }
        // If the user asked to continue in the background, a script or cron gets no notice of that.
        let isExpected = if case .resume(let overrides) = purpose { overrides.inBackground } else { false }
        narrator.goOnElsewhere(elsewhere, active: active, isExpected: isExpected)
    }

    /// Handles an error of `ask`. If no download was begun, or if the error is of an unknown type, the command fails.
    /// Otherwise the begun downloads are followed to their ends. After a signal, the error is ignored.
    private func cannotAsk(_ error: any Error) throws {
        if ledger.withLock(\.isInterrupted) { return }
        let document: RejectedDocument? =
            switch error {
            case let error as DownloadError: RejectedDocument(error)
            // The list could not be fetched from its server, or not as a whole.
            case let failure as ChecksumFile.Failure:
                RejectedDocument(message: failure.message, exitStatus: failure.error.exitStatus)
            default: nil
            }
        guard ledger.withLock({ $0.count > 0 }), let document else { throw error }
        reject(document)
        ledger.withLock { $0.hasAll = true }
    }

    private func handle(_ event: DownloadEvent) {
        switch event {
        case .didComplete(let snapshot), .didFail(let snapshot, _), .didCancel(let snapshot): end(snapshot)
        case .didRemove(let snapshot): removed(snapshot.id, EventDocument("removed", snapshot))
        case .didStart(let snapshot, let offset):
            ledger.withLock { $0.start(snapshot.id, offset: offset) }
            narrator.tell(event)
        case .didPause(let snapshot):
            if ledger.withLock(\.isInterrupted) { return }
            narrator.tell(event)
            stand(snapshot.id, snapshot.record.displayName, isInterrupted: false)
        case .didResume(let snapshot):
            narrator.tell(event)
            goOn(snapshot.id, snapshot.record.displayName)
        case .didAdd, .didRestart, .willRetry, .didPostpone, .didChange: narrator.tell(event)
        }
    }

    /// Whether the small files of a list need no more than an entry in the ledger and a path on stdout.
    private var takesPlainly: Bool {
        run == nil && narrator.tellsPathsOnly && display.mode != .bar && display.mode != .json
            && checks.withLock(\.isEmpty)
    }

    private func handle(_ files: [SmallFileEnd]) {
        narrator.began()
        for file in files where file.failure != nil { for event in file.events { handle(event) } }
        let files = files.filter { $0.failure == nil }.map(\.file)
        for file in files { display.forget(file.id) }
        let new = ledger.withLock { ledger in files.filter { ledger.end($0) } }
        narrator.end(new)
        ended()
    }

    /// - Parameter isInterrupted: Whether the download also continues when the background session starts.
    func stand(_ id: DownloadID, _ name: String, isInterrupted: Bool) {
        let (isNew, count) = ledger.withLock { ($0.stand(id), $0.standing.count) }
        if isNew { narrator.stand(id, name, isInterrupted: isInterrupted, count: count) }
    }

    func goOn(_ id: DownloadID, _ name: String) {
        if ledger.withLock({ $0.goOn(id) }) { narrator.goOn(id, name) }
    }

    func end(_ snapshot: DownloadSnapshot) {
        if !beginCheck(snapshot) { conclude(EndedDownload(snapshot)) }
    }

    /// Records the end of a download that was complete before this command began. Its file may be gone or changed
    /// since. If a program ran at the end, that program may have moved the file.
    func wasComplete(_ snapshot: DownloadSnapshot) {
        let found = snapshot.record.runsProgramAtEnd ? nil : fate(snapshot.record)
        conclude(EndedDownload(before: snapshot, fate: found))
    }

    func conclude(_ ended: EndedDownload) {
        let snapshot = ended.snapshot
        display.forget(snapshot.id)
        let (isNew, isLong) = ledger.withLock { ($0.end(ended), $0.isLong) }
        if isNew || run?.awaits(snapshot) ?? false {
            narrator.end(ended, display: display, isCounted: isLong)
            run?.ended(snapshot, error: ended.failure)
        }
        self.ended()
    }

    func removed(_ id: DownloadID, _ document: EventDocument?) {
        display.forget(id)
        if ledger.withLock({ $0.end(id, .cancelled) }) {
            narrator.removed(id, document)
            run?.lost(id, .cancelled)
        }
        ended()
    }

    func lost(_ id: DownloadID, _ error: any Error) {
        let error = error as? DownloadError ?? .unexpected("\(error)")
        if case .noSuchDownload(id) = error { return removed(id, nil) }
        display.forget(id)
        if ledger.withLock({ $0.end(id, error) }) {
            narrator.reject(RejectedDocument(error))
            run?.lost(id, error)
        }
        ended()
    }

    private func ended() {
        if case .watch(any: true) = purpose { ledger.withLock { $0.isOver = true } }
    }

    private func timeIsUp(_ limit: Seconds) {
        let left = ledger.withLock { $0.elsewhere.sorted() }
        narrator.timeIsUp(limit, left)
        ledger.withLock { ledger in
            ledger.failures.reject(status: 1)
            ledger.isOver = true
        }
    }
}
