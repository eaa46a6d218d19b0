import Synchronization

/// Reads the messages of an attempt in the place of a runner's task.
protocol RunnerAttendant: AnyObject, Sendable {
    /// Called on the sender's thread. False: the message is for the task of the runner, which has it from now on.
    func takes(_ message: RunnerControl.Message) -> Bool
}

/// The outside of a runner: how its session, its segments and the display reach it, from any thread.
package final class RunnerControl: Sendable {
    package enum Message: Sendable {
        /// The head is judged, and there is more than fits in a buffer: a file is wanted.
        case segmentOpened(SegmentWriter)
        indirect case segmentFinished(SegmentWriter, TransferResult)
        /// Time for a checkpoint.
        case tick
        /// One of two transfers for the same bytes brings some.
        case moved
        /// A piece of the file is not what it should be.
        case pieceFailed(Int)
        /// What the server named to describe the file; at the latest after its time limit.
        indirect case documentCame(Result<[UInt8], DownloadError>)
        /// Time to look at how fast the connections are.
        case pulse
        /// What a stream was given went out.
        case delivered
        /// Many bytes came since the last checkpoint: the next one does not wait for its tick.
        case recordDue
        /// What was in buffers at the last tick is written.
        case flushed
        case checkpointSaved(Int)
        /// Another session owns the download now.
        case disowned
        /// The time that the request gives it is over.
        case timeIsUp
        /// Answered with whether it made a difference; nil when the attempt ended before it was read.
        indirect case change(DownloadChange, answer: CheckedContinuation<Bool?, Never>)
        case stop
    }

    /// The queue for the task of the runner is made when it is needed: most small files have no task.
    private struct Inbox {
        var attendant: (any RunnerAttendant)?
        var queue: (stream: AsyncStream<Message>, continuation: AsyncStream<Message>.Continuation)?
        var isClosed = false

        mutating func open() -> (stream: AsyncStream<Message>, continuation: AsyncStream<Message>.Continuation) {
            if let queue { return queue }
            let made = AsyncStream.makeStream(of: Message.self)
            if isClosed { made.continuation.finish() }
            queue = made
            return made
        }
    }

    /// Bytes of the file that are here, or on their way to the disk.
    private let received: Atomic<Int64>
    /// Bytes that came since the last checkpoint began, and after how many the next one is due.
    private let unrecorded = Atomic<Int64>(0)
    private let recordLimit = Atomic<Int64>(RunnerControl.bytesBetweenRecords)
    /// For each connection. What a killed process had not recorded is fetched again: about twice as much at the most.
    static let bytesBetweenRecords: Int64 = 2 << 20
    /// -1 while unknown.
    private let total: Atomic<Int64>
    private let isFinishing = Atomic(false)
    private let stops = Atomic(false)
    private let shown: Mutex<DownloadRecord>
    private let inbox = Mutex(Inbox())
    /// The limit of this download alone.
    package let rateLimit: RateLimit

    package init(record: DownloadRecord) {
        received = Atomic(record.received)
        total = Atomic(record.resume.total ?? -1)
        shown = Mutex(record)
        rateLimit = RateLimit(record.request.rateLimit)
    }

    /// For the task of the runner.
    var messages: AsyncStream<Message> { inbox.withLock { $0.open().stream } }

    func send(_ message: Message) { _ = deliver(message) }

    /// - Returns: false when nobody will read it.
    private func deliver(_ message: Message) -> Bool {
        if inbox.withLock({ $0.attendant })?.takes(message) == true { return true }
        let queue = inbox.withLock { inbox in inbox.isClosed ? nil : inbox.open().continuation }
        if case .enqueued? = queue?.yield(message) { return true }
        return false
    }

    /// Who reads the messages; nil: the task of the runner.
    func attend(_ attendant: (any RunnerAttendant)?) { inbox.withLock { $0.attendant = attendant } }

    package func tick() { send(.tick) }

    /// Ends the attempt with its resume data on disk.
    package func stop() {
        stops.store(true, ordering: .releasing)
        send(.stop)
    }

    /// Changes what a running attempt can take: everything but its address and its end.
    /// - Returns: whether that made a difference; nil when the attempt has ended.
    func change(_ change: DownloadChange) async -> Bool? {
        await withCheckedContinuation { answer in
            if !deliver(.change(change, answer: answer)) { answer.resume(returning: nil) }
        }
    }

    /// The wish to stop stays, whoever read the message.
    var isStopping: Bool { stops.load(ordering: .acquiring) }

    /// Nothing more is read: what a message holds is let go.
    func close() {
        let queue = inbox.withLock { inbox in
            inbox.isClosed = true
            return inbox.queue
        }
        queue?.continuation.finish()
    }

    // MARK: For the display

    func show(received count: Int64) { received.store(count, ordering: .relaxed) }

    /// From any thread. The message that a checkpoint is due is sent once for each checkpoint.
    func add(received count: Int) {
        received.add(Int64(count), ordering: .relaxed)
        guard count > 0 else { return }
        let (before, after) = unrecorded.add(Int64(count), ordering: .relaxed)
        let limit = recordLimit.load(ordering: .relaxed)
        if before < limit, after >= limit { send(.recordDue) }
    }

    // MARK: Checkpoints

    /// A checkpoint begins: what comes from now on belongs to the next one.
    func beginRecord(connections: Int) {
        recordLimit.store(Self.bytesBetweenRecords * Int64(max(1, connections)), ordering: .relaxed)
        unrecorded.store(0, ordering: .relaxed)
    }

    /// The next checkpoint became due while the last one was being saved.
    var isRecordDue: Bool { unrecorded.load(ordering: .relaxed) >= recordLimit.load(ordering: .relaxed) }

    func show(total size: Int64?) { total.store(size ?? -1, ordering: .relaxed) }

    func showFinishing() { isFinishing.store(true, ordering: .relaxed) }

    /// What the runner found out on its way: size, name.
    func show(_ record: DownloadRecord) { shown.withLock { $0 = record } }

    var record: DownloadRecord { shown.withLock { $0 } }

    package func progress(id: DownloadID, state: DownloadState) -> DownloadProgress {
        let total = total.load(ordering: .relaxed)
        var progress = DownloadProgress(
            id: id, name: record.displayName, state: state, received: received.load(ordering: .relaxed),
            total: total < 0 ? nil : total)
        if isFinishing.load(ordering: .relaxed) { progress.phase = record.hasChecksum ? .verifying : .finishing }
        return progress
    }
}
