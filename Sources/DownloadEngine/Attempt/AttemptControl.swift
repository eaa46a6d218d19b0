import DownloadCore
import Synchronization

/// The connection between a running attempt and the rest of the program. The session and the transfers send messages to
/// the attempt, and the display reads its progress, from any thread.
package final class AttemptControl: Sendable {
    package enum Message: Sendable {
        /// The head was judged, and the segment needs a file: its body is larger than a buffer, or a checkpoint is due.
        case segmentNeedsFile(SegmentWriter)
        indirect case segmentFinished(SegmentWriter, TransferResult)
        /// A checkpoint is due.
        case tick
        /// The first bytes came on one of two transfers that fetch the same range.
        case moved
        /// The digest of a piece of the file does not match.
        case pieceFailed(Int)
        /// The fetch of the Metalink document that the server named has ended, with a result or by its time limit.
        indirect case documentCame(Result<[UInt8], DownloadError>)
        /// The search for a digest beside the file has ended. `search` is the number of the search.
        indirect case proofCame(ProofPlan.Outcome, search: Int)
        /// It is time to compare the speeds of the connections.
        case pulse
        /// The addresses of the server's name were looked up (``Transfer/addresses()``).
        case addressesCame([String])
        /// Everything handed to the stream so far has been written.
        case delivered
        /// The moment has come that the attempt waits for (``Attempt/wait(until:)``).
        case waitIsOver
        /// Many bytes have come since the last checkpoint, so the next checkpoint does not wait for its tick.
        case checkpointDue
        /// Everything that had been handed to the disk at the last tick, or when the checkpoint became due, has been
        /// written.
        case flushed
        case checkpointSaved(Int)
        /// Another session owns the download now.
        case disowned
        /// The time limit of the request has passed.
        case timeIsUp
        /// A change of the running attempt. The answer is true if the change made a difference, and nil if the attempt
        /// ended before it read the message.
        indirect case change(DownloadChange, answer: CheckedContinuation<Bool?, Never>)
        case stop
    }

    /// The record, or the entry of a small file, which has no record of its own.
    private enum Shown {
        case entry(DownloadEntry)
        case record(DownloadRecord)
    }

    /// The messages that wait for the attempt's task. The queue is made on first use, because most small files have no
    /// task.
    private struct Inbox {
        /// Handles the messages while the attempt has no task.
        var attendant: SmallFileAttempt?
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

    /// The bytes of the file that are on disk or on their way to the disk.
    private let received: Atomic<Int64>
    /// The number of bytes that came since the last checkpoint began. At `checkpointLimit`, the next checkpoint is due.
    private let unrecorded = Atomic<Int64>(0)
    private let checkpointLimit = Atomic<Int64>(AttemptControl.bytesBetweenCheckpoints)
    /// The number of bytes for each connection after which a checkpoint is due. After a kill, the bytes that were not
    /// recorded are fetched again: at most about twice this number for each connection.
    static let bytesBetweenCheckpoints: Int64 = 2 << 20
    /// The size of the file in bytes, or -1 while the size is unknown.
    private let total: Atomic<Int64>
    private let isFinishing = Atomic(false)
    private let stops = Atomic(false)
    private let shown: Mutex<Shown>
    private let inbox = Mutex(Inbox())
    package let rateLimit: RateLimit
    /// The running transfers of an attempt with a task, for a display that asks for them.
    private let live = Mutex<[LiveConnection]>([])

    package init(record: DownloadRecord) {
        let present = record.present
        received = Atomic(present.received)
        total = Atomic(present.total ?? -1)
        shown = Mutex(.record(record))
        rateLimit = RateLimit(record.rateLimit)
    }

    /// Makes the control of an attempt at a download of which nothing was fetched.
    init(entry: DownloadEntry) {
        received = Atomic(0)
        total = Atomic(-1)
        shown = Mutex(.entry(entry))
        rateLimit = RateLimit(entry.common.rateLimit)
    }

    /// Makes the control of a download between two attempts. It refuses messages, because no attempt reads them.
    static func betweenAttempts(_ record: DownloadRecord) -> AttemptControl {
        let control = AttemptControl(record: record)
        control.close()
        return control
    }

    var messages: AsyncStream<Message> { inbox.withLock { $0.open().stream } }

    func send(_ message: Message) { _ = deliver(message) }

    /// Delivers a message.
    /// - Returns: False if the message will never be read.
    private func deliver(_ message: Message) -> Bool {
        if inbox.withLock({ $0.attendant })?.handles(message) == true { return true }
        let queue = inbox.withLock { inbox in inbox.isClosed ? nil : inbox.open().continuation }
        if case .enqueued? = queue?.yield(message) { return true }
        return false
    }

    /// Sets the object that handles the messages. If it is nil, the attempt's task handles them.
    func attend(_ attendant: SmallFileAttempt?) { inbox.withLock { $0.attendant = attendant } }

    package func tick() { send(.tick) }

    /// Asks the attempt to end. The session saves its record afterwards.
    package func stop() {
        stops.store(true, ordering: .releasing)
        send(.stop)
    }

    /// Changes a running attempt. To change the URL or the mirrors, or to pause or cancel the download, the session
    /// stops the attempt instead (``stop()``).
    /// - Returns: Whether the change made a difference, or nil if the attempt has ended.
    func change(_ change: DownloadChange) async -> Bool? {
        await withCheckedContinuation { answer in
            if !deliver(.change(change, answer: answer)) { answer.resume(returning: nil) }
        }
    }

    /// Whether the attempt was asked to stop. It stays true after the message `stop` was read.
    var isStopping: Bool { stops.load(ordering: .acquiring) }

    /// Ends the inbox: later messages are dropped. The attempt's task can still read the messages that came before.
    func close() {
        let queue = inbox.withLock { inbox in
            inbox.isClosed = true
            return inbox.queue
        }
        queue?.continuation.finish()
        live.withLock { $0 = [] }
    }

    // MARK: For the display

    func show(received count: Int64) { received.store(count, ordering: .relaxed) }

    /// Adds to the number of received bytes. Called on any thread. Sends ``Message/checkpointDue`` once for each
    /// checkpoint.
    func add(received count: Int) {
        received.add(Int64(count), ordering: .relaxed)
        guard count > 0 else { return }
        let (before, after) = unrecorded.add(Int64(count), ordering: .relaxed)
        let limit = checkpointLimit.load(ordering: .relaxed)
        if before < limit, after >= limit { send(.checkpointDue) }
    }

    // MARK: Checkpoints

    /// Begins a checkpoint. Bytes that come from now on belong to the next checkpoint.
    func beginCheckpoint(connections: Int) {
        checkpointLimit.store(Self.bytesBetweenCheckpoints * Int64(max(1, connections)), ordering: .relaxed)
        unrecorded.store(0, ordering: .relaxed)
    }

    /// Whether the next checkpoint became due while the last one was being saved.
    var isCheckpointDue: Bool { unrecorded.load(ordering: .relaxed) >= checkpointLimit.load(ordering: .relaxed) }

    func began(_ connection: LiveConnection) { live.withLock { $0.append(connection) } }

    func ended(_ segment: SegmentWriter) { live.withLock { $0.removeAll { $0.segment === segment } } }

    /// Returns the running connections, in a lasting order.
    func connections(at now: ContinuousClock.Instant) -> [ConnectionProgress] {
        live.withLock { live in
            live.indices.sorted { live[$0].segment.connection < live[$1].segment.connection }
                .map { live[$0].look(at: now) }
        }
    }

    func show(total size: Int64?) { total.store(size ?? -1, ordering: .relaxed) }

    func showFinishing() { isFinishing.store(true, ordering: .relaxed) }

    /// Shows the facts that the attempt has learned, such as the size and the name.
    func show(_ record: DownloadRecord) { shown.withLock { $0 = .record(record) } }

    var record: DownloadRecord {
        switch shown.withLock({ $0 }) {
        case .record(let record): record
        case .entry(let entry): entry.started
        }
    }

    package func progress(id: DownloadID, state: DownloadState) -> DownloadProgress {
        let total = total.load(ordering: .relaxed)
        var progress = DownloadProgress(
            id: id, name: record.displayName, state: state, received: received.load(ordering: .relaxed),
            total: total < 0 ? nil : total)
        if isFinishing.load(ordering: .relaxed) { progress.phase = record.hasChecksum ? .verifying : .finishing }
        return progress
    }
}
