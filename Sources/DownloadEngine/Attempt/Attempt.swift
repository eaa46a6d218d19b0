import DownloadCore

/// The state that the phases of one attempt share: the record, the messages, the file and the transfers. Used by one
/// task.
final class Attempt {
    var record: DownloadRecord
    let context: AttemptContext
    let control: AttemptControl
    /// The moment at which the time limit of the request ends; nil if the request has no limit.
    let deadline: ContinuousClock.Instant?
    var local = LocalFile()
    var transfers: Transfers
    var checkpoints: Checkpoints
    /// The overlap check of the current source; nil unless the bytes in the file come from another source.
    var sourceCheck: SourceOverlapCheck?
    /// Whether a 206 answer brought bytes from another place of the file than its `Content-Range` said. From then on,
    /// requests have no range.
    var distrustsRanges = false
    /// The error of the last unusable part, after which the whole file is requested and compared with the bytes on disk.
    /// A server that contradicts itself does not prove that the file has changed, so these bytes are kept.
    var partsError: DownloadError?
    /// Whether the part with this error ends behind the total size that it states, so that the size is wrong.
    var distrustsTotal = false
    /// The pause that the server's last answer asked for, before the next attempt.
    var serverPause: ServerPause?
    var search = ProofSearch.State()
    private lazy var messages = control.messages.makeAsyncIterator()

    init(
        record: DownloadRecord, context: AttemptContext, control: AttemptControl, prefersMultiplexing: Bool,
        deadline: ContinuousClock.Instant?
    ) {
        self.record = record
        self.context = context
        self.control = control
        self.deadline = deadline
        transfers = Transfers(sources: SourcePool(record.source), prefersMultiplexing: prefersMultiplexing)
        checkpoints = Checkpoints(record, now: context.time.now)
    }

    /// Returns the next message that a phase must handle. Makes checkpoints, applies changes and obeys a stop
    /// meanwhile.
    func nextMessage() async throws -> AttemptControl.Message {
        while let message = await messages.next() {
            if case .change = message { await applyChange(message) } else if try isForPhase(message) { return message }
        }
        throw RoundEnd.stopped
    }

    /// Handles any message except a change, and returns whether a phase must handle the message, too.
    @inline(never)
    private func isForPhase(_ message: AttemptControl.Message) throws -> Bool {
        switch message {
        case .segmentNeedsFile, .moved, .pulse, .addressesCame, .delivered, .waitIsOver, .pieceFailed, .documentCame,
            .change:
            return true
        case .segmentFinished(let segment, let result):
            recordEnd(of: segment, result)
            if record.lastAttempt.metrics == nil { record.lastAttempt.metrics = result.metrics }
            return true
        case .tick:
            tick()
            if let failure = context.stream?.failure { throw failure }
        case .checkpointDue: awaitFlush()
        case .flushed:
            sourceCheck?.recordCompared()
            saveCheckpoint()
        case .checkpointSaved(let number):
            checkpoints.didSave(number)
            if control.isCheckpointDue { awaitFlush() }
        case .proofCame(let outcome, let number):
            ProofSearch(attempt: self).end(outcome, number: number)
            return true
        case .disowned: throw disowned
        case .stop: throw RoundEnd.stopped
        case .timeIsUp: throw overdue
        }
        return false
    }

    var overdue: DownloadError { @inline(never) get { .overdue(record.request, last: nil) } }

    var disowned: DownloadError { .sessionUnavailable(.ownedElsewhere(record.id, session: "another")) }

    func obeyStop() throws(RoundEnd) { if control.isStopping { throw .stopped } }

    private func tick() {
        sourceCheck?.ask(transfers.running)
        for segment in transfers.running { segment.flush() }
        context.stream?.noteReader()
        awaitFlush()
        if let file = local.file, checkpoints.isSyncDue(unsynced: file.unsynced, now: context.time.now) {
            context.disk.syncSoon(file)
        }
    }

    /// Makes a checkpoint after everything that was handed to the disk so far is written.
    private func awaitFlush() { context.disk.afterWrites { [control] in control.send(.flushed) } }

    /// Closes the message channel of the attempt. The caller of a change that was not handled gets nil as the answer.
    func close() async {
        // The session saves the end of the attempt next, and an older record must not replace it.
        await finishCheckpoint()
        control.close()
        while let message = await messages.next() {
            if case .change(_, let answer) = message { answer.resume(returning: nil) }
        }
    }

    /// Waits until all bytes that were handed to the stream so far are delivered, however slow the reader of the stream
    /// is.
    func deliverAll() async throws {
        context.disk.afterWrites { [control] in control.send(.delivered) }
        try await awaitDelivered()
    }

    /// Waits for the message ``AttemptControl/Message/delivered``. No transfer may end meanwhile, because the message
    /// about its end would be lost.
    func awaitDelivered() async throws {
        while true { if case .delivered = try await nextMessage() { return } }
    }

    /// Sends a message to this attempt at a moment, unless the returned task is cancelled before.
    func send(_ message: AttemptControl.Message, at moment: ContinuousClock.Instant) -> Task<Void, Never> {
        Task { [control, time = context.time] in
            guard (try? await time.sleep(until: moment)) != nil else { return }
            control.send(message)
        }
    }

    /// Waits until the moment and handles messages meanwhile. No transfer may run.
    func wait(until moment: ContinuousClock.Instant) async throws {
        guard moment > context.time.now else { return }
        let alarm = send(.waitIsOver, at: moment)
        defer { alarm.cancel() }
        while true { if case .waitIsOver = try await nextMessage() { return } }
    }

    /// Waits for the end of the only transfer.
    func end(of answer: ProbeAnswer) async throws -> TransferResult {
        var result = answer.result
        while true {
            if let result {
                try learnDigest(of: answer.segment, result)
                return result
            }
            if case .segmentFinished(let segment, let end) = try await nextMessage(), segment === answer.segment {
                result = end
            }
        }
    }

    /// Ends the running transfers. Afterwards all received bytes are on disk and in the record. Only the bytes of a
    /// transfer that does not write into the file yet are lost. They may be of another version of the remote file than
    /// the bytes in the file.
    func endTransfers() async {
        for segment in transfers.running { segment.cancel() }
        while !transfers.running.isEmpty, let message = await messages.next() {
            switch message {
            case .segmentFinished(let segment, let result):
                recordEnd(of: segment, result)
                _ = await forgetDoubtful(of: segment, result)
            case .change: await applyChange(message)
            case .checkpointSaved(let number): checkpoints.didSave(number)
            case .proofCame(let outcome, let number): ProofSearch(attempt: self).end(outcome, number: number)
            default: break
            }
        }
        transfers.probe = nil
        if let stream = context.stream, local.file == nil {
            // An attempt that was asked to stop does not wait for the reader of the stream.
            if !control.isStopping { try? await deliverAll() }
            recordDelivered(stream)
        } else {
            await context.disk.afterWrites()
        }
        enterRanges()
        control.show(received: record.received)
    }
}
