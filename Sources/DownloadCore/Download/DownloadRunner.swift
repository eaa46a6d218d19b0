import Foundation

/// One attempt at a download, from its first request to the final name; it reads from top to bottom. Used by one task.
package final class DownloadRunner {
    package enum Outcome: Sendable, Equatable {
        case completed
        /// Asked to stop: the resume data is on disk.
        case stopped
        case failed(DownloadError, retryAfter: ServerPause?)
        /// As well, but there is a new link for it by now.
        case renewed(DownloadError)
    }

    package internal(set) var record: DownloadRecord
    let context: RunnerContext
    let control: RunnerControl
    private lazy var messages = control.messages.makeAsyncIterator()

    var file: PartialFile?
    var digest: FileDigest?
    var segments: [SegmentWriter] = []
    /// The transfer that finds out what file is wanted, until it has that file.
    var opener: SegmentWriter? { didSet { oldValue?.discard() } }
    var nextConnection = 0
    /// The first transfer was begun before this runner was made.
    var isScoutBegun = false
    private let started: Date
    /// Of the files that the request refers to.
    var secrets = LoadedSecrets()
    /// Shares a connection with others where it can: one of many small files.
    var prefersMultiplexing: Bool
    /// Parts of it cannot be joined: it is not asked for in parts.
    var asksWhole = false
    /// An answer in part did not bring the bytes that it named: the file is asked for without a range.
    var distrustsRanges = false
    /// What is here came from another source than the one that is asked.
    var joint: SourceJoint?
    /// The bytes of earlier attempts that were here when this one began.
    var inherited = ByteRanges()
    /// Sources that bring parts at the same time, and what verifies their pieces.
    var pool: SourcePool?
    var verifier: PieceVerifier?
    /// Mirrors that an answer named.
    var links: MirrorLinks?
    /// A document that the answer named, not yet gone by.
    var description: (metalink: Metalink, url: SourceURL)?
    /// The end of a file that was found under the final name, to be compared with the server's.
    var compared: Range<Int64>?
    /// False once the server has given the file another one.
    var triesNameOfURL = true
    private var checkpoints: Checkpoints
    /// Tells when to look at the speeds again; ends with the attempt.
    var pulse: Task<Void, Never>?
    private let receivedBefore: Int64
    /// When the time that the request gives it is over.
    let deadline: ContinuousClock.Instant?
    var retryAfter: ServerPause?

    package init(
        record: DownloadRecord, context: RunnerContext, control: RunnerControl, prefersMultiplexing: Bool,
        deadline: ContinuousClock.Instant? = nil, scout: SegmentWriter? = nil, started: Date? = nil
    ) {
        self.deadline = deadline
        self.started = started ?? context.time.date
        self.record = record
        self.context = context
        self.control = control
        self.prefersMultiplexing = prefersMultiplexing
        receivedBefore = record.received
        checkpoints = Checkpoints(record, now: context.time.now)
        if let scout { takeUp(scout) }
    }

    /// The first transfer was begun before (``SmallFileAttempt``).
    private func takeUp(_ scout: SegmentWriter) {
        opener = scout
        segments.append(scout)
        nextConnection = scout.connection + 1
        isScoutBegun = true
    }

    package func run() async -> Outcome {
        record.attempts.append(AttemptRecord(started: started))
        if record.attempts.count > DownloadRecord.attemptsKept { record.attempts.removeFirst() }
        let alarm = deadline.map { deadline in
            Task { [control, time = context.time] in
                guard (try? await time.sleep(until: deadline)) != nil else { return }
                control.send(.timeIsUp)
            }
        }
        let outcome = await attempt()
        alarm?.cancel()
        // Not left to the end of this object: others may hold the file a little longer, and the next attempt opens it.
        file?.unlock()
        digest?.abandon()
        endPool()
        pulse?.cancel()
        control.close()
        while let message = await messages.next() {
            if case .change(_, let answer) = message { answer.resume(returning: nil) }
        }
        return outcome
    }

    private func attempt() async -> Outcome {
        do {
            try await work()
            noteAttempt("completed")
            return .completed
        } catch {
            return await end(with: error)
        }
    }

    private func work() async throws {
        try await adaptRequest()
        try requireSecrets()
        await renewExpiredLink()
        try await prepare()
        let isLocal = record.request.url.known == .file
        if let stream = context.stream {
            if isLocal { return try await sendLocalFile(to: stream) }
            try await send(to: stream)
            return try saveCookies()
        }
        if record.request.repairs, try await takeUpForRepair() { return }
        if file == nil, try await finishWhatIsThere() { return }
        try await verifyCompleted()
        if let why = whyAnew { try await startOver(why: why) }
        let total = try await transfer()
        try saveCookies()
        context.transfersEnded(record.id, control)
        if let total { try await finish(total: total) }
    }

    /// Has the session's adapter change the request. At another URL the bytes that are here are compared, as after any
    /// change of the address.
    @inline(never)
    private func adaptRequest() async throws {
        guard let adapter = context.adapter else { return }
        var adapted = try await adapter.adapt(record.request)
        adapted.destination = record.request.destination
        if adapted.url != record.request.url { _ = record.apply(.url(adapted.url, nil)) }
        record.request = adapted
        control.show(record)
    }

    @inline(never)
    private func requireSecrets() throws(DownloadError) {
        let missing = record.request.missingSecrets
        if !missing.isEmpty { throw .requestInvalid(.missingSecrets(missing)) }
    }

    @inline(never)
    private func prepare() async throws(DownloadError) {
        // The URL may have become another one since it was asked for.
        try record.request.requireAllowed()
        secrets = try await LoadedSecrets.load(record.request.secretFiles, context.time)
        secrets.remember(context.memory(of: record))
    }

    // MARK: Messages

    /// The next message of a segment; checkpoints are made, and the wish to stop is obeyed, on the way.
    func nextMessage() async throws -> RunnerControl.Message {
        while let message = await messages.next() {
            switch message {
            case .segmentOpened, .moved, .pulse, .delivered, .pieceFailed, .documentCame: return message
            case .segmentFinished(let segment, let result):
                noteEnd(of: segment, result)
                return message
            case .tick:
                tick()
                if let failure = context.stream?.failure { throw failure }
            case .recordDue: awaitFlush()
            case .flushed:
                joint?.noteCompared()
                saveCheckpoint()
            case .checkpointSaved(let number):
                checkpoints.didSave(number)
                if control.isRecordDue { awaitFlush() }
            case .disowned: throw disowned
            case .change(let change, let answer): answer.resume(returning: await apply(change))
            case .stop: throw RoundEnd.stopped
            case .timeIsUp: throw overdue
            }
        }
        throw RoundEnd.stopped
    }

    @inline(never)
    private func noteEnd(of segment: SegmentWriter, _ result: TransferResult) {
        noteCookies(of: result, segment)
        noteReceived(from: segment)
        segments.removeAll { $0 === segment }
        if record.attempts[record.attempts.count - 1].metrics == nil {
            record.attempts[record.attempts.count - 1].metrics = result.metrics
        }
    }

    var overdue: DownloadError { @inline(never) get { .overdue(record.request, last: nil) } }

    var disowned: DownloadError { .sessionUnavailable(.ownedElsewhere(record.id, session: "another")) }

    /// Ends what runs; then everything received is on disk and in the record. Only transfers that had no file yet lose
    /// what they brought: it may belong to another version than the file.
    func endSegments() async {
        for segment in segments { segment.cancel() }
        while !segments.isEmpty, let message = await messages.next() {
            switch message {
            case .segmentFinished(let segment, let result):
                noteCookies(of: result, segment)
                noteReceived(from: segment)
                segments.removeAll { $0 === segment }
                _ = await forgetDoubtful(of: segment, result)
            case .change(let change, let answer): answer.resume(returning: await apply(change))
            case .checkpointSaved(let number): checkpoints.didSave(number)
            default: break
            }
        }
        opener = nil
        if let stream = context.stream {
            // One that wants the end does not wait for a reader.
            if !control.isStopping { try? await awaitDelivery() }
            noteDelivered(stream)
        } else {
            await context.disk.afterWrites()
        }
        readFile()
        control.show(received: record.received)
    }

    /// Returns once everything handed over so far went out; whoever reads the stream may take his time.
    func awaitDelivery() async throws {
        context.disk.afterWrites { [control] in control.send(.delivered) }
        try await awaitDelivered()
    }

    /// Messages are obeyed meanwhile.
    func awaitDelivered() async throws {
        while true { if case .delivered = try await nextMessage() { return } }
    }

    func obeyStop() throws(RoundEnd) { if control.isStopping { throw RoundEnd.stopped } }

    @inline(never)
    private func tick() {
        joint?.ask(segments)
        for segment in segments { segment.flush() }
        context.stream?.noteReader()
        awaitFlush()
        if let file, checkpoints.isSyncDue(unsynced: file.unsynced, now: context.time.now) {
            context.disk.syncSoon(file)
        }
    }

    /// Makes a checkpoint once everything that was handed to the disk so far is written.
    private func awaitFlush() { context.disk.afterWrites { [control] in control.send(.flushed) } }

    /// Made by the session while the attempt runs; saved before it is answered.
    private func apply(_ change: DownloadChange) async -> Bool {
        guard record.apply(change) else { return false }
        if case .rateLimit(let limit) = change { control.rateLimit.bytesPerSecond = limit }
        await finishCheckpoint()
        if file != nil { readFile() }
        control.show(record)
        // A store that fails now is asked again at the next checkpoint; the end of the attempt reports it.
        _ = try? await context.store.save([record], session: context.session)
        return true
    }

    // MARK: Checkpoints

    /// Enters what the disk has into the record.
    func readFile() {
        guard let file else { return }
        record.resume.written = proven(file.written)
        record.resume.durable = joint.map { $0.before.intersection(file.durable) } ?? file.durable
        record.resume.file = file.identity
        record.resume.device = file.device
        record.resume.bootID = FileStatus.bootID
        noteReceived()
    }

    func noteReceived() {
        record.attempts[record.attempts.count - 1].received = max(0, record.received - receivedBefore)
    }

    @inline(never)
    private func saveCheckpoint() {
        guard checkpoints.saving == nil, file != nil || checkpoints.isFirst, file?.differs != true else { return }
        control.beginRecord(connections: segments.count)
        readFile()
        if let speed = checkpoints.speed(of: record, now: context.time.now) { record.speed = speed }
        record.updated = context.time.date
        control.show(record)
        checkpoints.save(record, in: context, for: control)
    }

    /// What is saved from here on comes after every checkpoint.
    func finishCheckpoint() async { await checkpoints.saving?.value }

    // MARK: The end

    /// Keeps everything received.
    private func end(with error: any Error) async -> Outcome {
        await endSegments()
        // Why the attempt ended is worth more than that they cannot be kept.
        try? saveCookies()
        await finishCheckpoint()
        // A file that cannot be asked is taken as it is found: the next attempt looks at it again.
        if let file, !record.resume.written.isEmpty {
            record.resume.modified = file.isWrittenByOthers ? ResumeData.altered : (try? file.modified()) ?? nil
        }
        file?.notifyWrites(nil)
        if error as? DownloadError != disowned { removeIfEmpty() }
        record.speed = nil
        if case .stopped? = error as? RoundEnd {
            noteAttempt("stopped")
            return .stopped
        }
        let failure = (error as? DownloadError ?? .unexpected("\(error)")).hiding(
            RequestSecrets(record.request, secrets))
        noteAttempt(failure.description)
        return await afterRenewal(failure)
    }

    /// A partial file in which nothing was received is left nowhere.
    private func removeIfEmpty() {
        guard let file, file.written.isEmpty, file.failure != .fileFailed(.replaced, path: file.path) else { return }
        file.remove()
        file.unlock()
        self.file = nil
        record.resume.file = nil
        record.fileName = nil
    }

    @inline(never)
    func noteAttempt(_ outcome: String) {
        let index = record.attempts.count - 1
        record.attempts[index].ended = context.time.date
        record.attempts[index].outcome = outcome
    }
}
