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
        case segmentFinished(SegmentWriter, TransferResult)
        /// Time for a checkpoint.
        case tick
        /// One of two transfers for the same bytes brings some.
        case moved
        /// Time to look at how fast the connections are.
        case pulse
        /// What was in buffers at the last tick is written.
        case flushed
        case checkpointSaved(Int)
        /// Another session owns the download now.
        case disowned
        /// Answered with whether it made a difference; nil when the attempt ended before it was read.
        case change(DownloadChange, answer: CheckedContinuation<Bool?, Never>)
        case stop
    }

    let messages: AsyncStream<Message>
    private let continuation: AsyncStream<Message>.Continuation

    /// Bytes of the file that are here, or on their way to the disk.
    private let received: Atomic<Int64>
    /// -1 while unknown.
    private let total: Atomic<Int64>
    private let isFinishing = Atomic(false)
    private let stops = Atomic(false)
    private let shown: Mutex<DownloadRecord>
    private let attendant = Mutex<(any RunnerAttendant)?>(nil)
    /// The limit of this download alone.
    package let rateLimit: RateLimit

    package init(record: DownloadRecord) {
        (messages, continuation) = AsyncStream.makeStream()
        received = Atomic(record.received)
        total = Atomic(record.resume.total ?? -1)
        shown = Mutex(record)
        rateLimit = RateLimit(record.request.rateLimit)
    }

    func send(_ message: Message) {
        if attendant.withLock({ $0 })?.takes(message) == true { return }
        continuation.yield(message)
    }

    /// Who reads the messages; nil: the task of the runner.
    func attend(_ attendant: (any RunnerAttendant)?) { self.attendant.withLock { $0 = attendant } }

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
            let message = Message.change(change, answer: answer)
            if attendant.withLock({ $0 })?.takes(message) == true { return }
            if case .terminated = continuation.yield(message) { answer.resume(returning: nil) }
        }
    }

    /// The wish to stop stays, whoever read the message.
    var isStopping: Bool { stops.load(ordering: .acquiring) }

    /// Nothing more is read: what a message holds is let go.
    func close() { continuation.finish() }

    // MARK: For the display

    func show(received count: Int64) { received.store(count, ordering: .relaxed) }

    func add(received count: Int) { received.add(Int64(count), ordering: .relaxed) }

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
        progress.isFinishing = isFinishing.load(ordering: .relaxed)
        return progress
    }
}
