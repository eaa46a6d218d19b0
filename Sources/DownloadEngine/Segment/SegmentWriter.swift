import DownloadCore
import Foundation
import HTTPTypes
import Synchronization

/// The receiver of one transfer. It judges the head of the answer, gathers the bytes in pool buffers and hands the
/// buffers to the disk (docs/internals/attempt.md, "Bytes on their way to the disk"). Without a file, it keeps its one
/// buffer, and pauses when the buffer is full. It asks the attempt for a file at the head if the body is known to be
/// larger than a buffer; otherwise when it pauses, when a checkpoint is due, or when other transfers wait.
package final class SegmentWriter: TransferSink {
    /// The number of this connection in the download.
    package let connection: Int
    package let judge: ResponseJudge
    private let disk: DiskWriter
    private let control: AttemptControl
    let state: Mutex<State>
    /// Separate from `state`, because the pool wakes writers while another writer holds the lock of its own state.
    private let wake = Mutex(Wake())

    /// - Parameter file: The target, or nil for the probe, which learns what the file is.
    package init(
        connection: Int, judge: ResponseJudge, file: (any SegmentTarget)?, countedFrom: Int64, countedTo: Int64 = .max,
        disk: DiskWriter, control: AttemptControl
    ) {
        self.connection = connection
        self.judge = judge
        self.disk = disk
        self.control = control
        state = Mutex(
            State(
                file: file,
                range: SegmentRange(position: judge.start, end: judge.end, counted: (countedFrom, countedTo)),
                answer: AnswerTime(begun: disk.time.now)))
    }

    deinit {
        if let buffer = state.withLock({ $0.gathered.buffer }) { disk.give(buffer) }
    }

    // MARK: For the attempt

    package var head: ResponseHead? { state.withLock { $0.head } }
    package var verdict: ResponseJudge.Verdict? { state.withLock { $0.verdict } }
    package var refusal: EndedTransfer.Refusal? { state.withLock { $0.refusal } }
    /// The rest of the range that was asked for, or of an announced whole file. Nil if its end is not known.
    package var unfinished: Range<Int64>? {
        state.withLock { $0.range.unfinished(asked: $0.head?.status == 206 ? judge.end : nil) }
    }
    package var position: Int64 { state.withLock { $0.range.position } }
    var countedStart: Int64 { state.withLock { $0.range.countedFrom } }
    var brought: Range<Int64> { state.withLock { $0.range.brought } }
    /// The cookies that were known when the cookies of the head were learned. Nil if they were not learned.
    var learnedCookies: [String]? {
        get { state.withLock { $0.learnedCookies } }
        set { state.withLock { $0.learnedCookies = newValue } }
    }

    package func takeAnswer() -> (at: ContinuousClock.Instant, after: Double)? {
        state.withLock { $0.answer.take() }
    }

    /// The handle of the transfer; nil before it has begun.
    var transfer: (any Transfer)? { wake.withLock { $0.transfer } }

    package func begin(_ transport: any Transport, _ request: TransferRequest) {
        let transfer = transport.start(request, sink: self)
        let wake = wake.withLock { wake in
            if !wake.isFinished { wake.transfer = transfer }
            return wake
        }
        if wake.owesCancel { transfer.cancel() } else if wake.owesResume { transfer.resume() }
    }

    /// Cancels the transfer. Called on any thread, even while the transfer begins.
    package func cancel() {
        let transfer = wake.withLock { wake in
            wake.owesCancel = true
            return wake.transfer
        }
        transfer?.cancel()
    }

    /// Ends the transfer as soon as it reaches the offset `end`. The bytes that came are kept. Returns the offset at
    /// which these bytes end. This offset is after `end` if the transfer is already past `end` and its last bytes are
    /// not doubtful (see ``doubtful(after:)``).
    @discardableResult
    package func shorten(to end: Int64) -> Int64 {
        let (last, isThere) = state.withLock { state in
            let (last, isThere) = state.range.shorten(to: end)
            return (state.head?.fields.value(.transferEncoding) == nil ? last : end, isThere)
        }
        if isThere { cancel() }
        return last
    }

    /// Reports the next bytes to the attempt at once. When these bytes come, the duplicate transfer is not needed.
    package func tellMove() { state.withLock { $0.tellsMove = true } }

    /// Attaches the file that takes the bytes. A paused transfer continues.
    package func attach(_ file: any SegmentTarget) {
        let resumes = state.withLock { state in
            state.file = file
            state.gathered.cancelHandOver()
            if state.isFinished || state.waitsForFile || disk.pool.isContended { submit(&state) }
            defer { state.waitsForFile = false }
            return state.waitsForFile
        }
        if resumes { resumeTransfer() }
    }

    /// The head and the size of a file that came whole, without a cut, and is in one buffer.
    var wholeFile: (head: ResponseHead, size: Int64)? {
        state.withLock { state in
            guard let head = state.head, case .body(offset: 0, let end, let total?)? = state.verdict, end == total,
                state.range.position == total, state.file == nil, state.range.cut == nil
            else { return nil }
            return (head, total)
        }
    }

    /// Lends the bytes of a whole small file that was never attached to a file.
    func withWhole<T, Failure>(_ body: (UnsafeRawBufferPointer) throws(Failure) -> T) throws(Failure) -> T {
        try state.withLock { state throws(Failure) in try body(state.gathered.bytes) }
    }

    /// Hands over a partly filled buffer because a checkpoint is due, or asks for a file to put the bytes in.
    package func flush() {
        let asksForFile = state.withLock { state in
            if state.file != nil { submit(&state) }
            guard state.file == nil, state.gathered.count > 0, !state.isFinished else { return false }
            return state.askForFile()
        }
        if asksForFile { control.send(.segmentNeedsFile(self)) }
    }

    /// Gives the buffer back to the pool if no file was ever attached.
    package func discard() {
        let buffer = state.withLock { state -> PoolBuffer? in
            state.file == nil ? state.gathered.take()?.buffer : nil
        }
        if let buffer { disk.give(buffer) }
    }

    // MARK: The engine's thread

    package func transferDidReceiveHead(_ head: ResponseHead) -> HeadDisposition {
        let verdict = judge.judge(head)
        let (disposition, asksForFile) = state.withLock { state in
            state.head = head
            state.verdict = verdict
            let disposition = self.disposition(of: head, verdict, &state)
            if disposition == .refuse { state.refusal = .verdict }
            // A body that fits in one buffer needs no file before its end, and a body of unknown size asks later.
            let isLarge = disposition == .accept && verdict.total ?? 0 > Int64(BufferPool.bufferSize)
            return (disposition, isLarge && state.file == nil && state.askForFile())
        }
        if asksForFile { control.send(.segmentNeedsFile(self)) }
        return disposition
    }

    /// Whether the head states the length of the body, so that the transport takes no byte after it.
    static func hasLength(_ head: ResponseHead) -> Bool {
        ResponseJudge.contentLength(head) != nil && head.fields.value(.transferEncoding) == nil
    }

    private func disposition(
        of head: ResponseHead, _ verdict: ResponseJudge.Verdict, _ state: inout State
    ) -> HeadDisposition {
        switch verdict {
        case .body(let offset, let end, _):
            state.answer.headCame()
            let isPart = head.status == 206 && judge.asksRange
            // A later connection that gets the file from its beginning is of no use.
            if state.file != nil, !isPart, judge.start > 0 { return .refuse }
            // The reader of a stream may take the bytes before their end shows that the length is wrong.
            if let file = state.file, file.limit < .max, !Self.hasLength(head) { return .refuse }
            state.range.begin(at: offset, end: end, countsAll: !isPart && offset != judge.start)
            return .accept
        case .newVersion(let total, _):
            state.answer.headCame()
            if state.file != nil { return .refuse }
            state.range.begin(at: 0, end: total, countsAll: true)
            return .accept
        // The body of a 206 answer may be the whole file.
        case .askWithoutRange: return head.status == 206 ? .refuse : .discard
        case .redirect, .current, .failed(.serverRefused), .failed(.authenticationFailed): return .discard
        case .changed, .failed: return .refuse
        }
    }

    package func transferDidReceive(_ bytes: UnsafeRawBufferPointer) -> BodyDisposition {
        let (disposition, asksForFile, count, tellsMove, handOver) = state.withLock { state in
            let taken = take(bytes, &state)
            defer { if taken.count > 0 { state.tellsMove = false } }
            // Other transfers wait for a buffer, or may wait soon.
            let handsOver = disk.pool.isContended || state.file != nil && disk.pool.isScarce
            let handOver = handsOver ? nextHandOver(&state) : nil
            return (taken.0, taken.asksForFile, taken.count, taken.count > 0 && state.tellsMove, handOver)
        }
        if count > 0 { control.add(received: count) }
        if tellsMove { control.send(.moved) }
        if asksForFile { control.send(.segmentNeedsFile(self)) }
        switch handOver {
        case .toDisk(let start)?: disk.soon { self.handOver(from: start) }
        case .ifItIsSlow?:
            disk.afterWrites(in: .milliseconds(250)) { if self.disk.pool.isContended { self.flush() } }
        case nil: break
        }
        return disposition
    }

    /// The ways to hand over a partly filled buffer while other transfers wait for a buffer. The hand-over happens a
    /// little later, when more bytes have come, or as soon as a transfer has to wait.
    private enum HandOver {
        case toDisk(from: Int64)
        /// Without a file, the segment must get one first. Most small bodies have come whole by then.
        case ifItIsSlow
    }

    /// Returns how to hand over the buffer. Nil if there is nothing to hand over, or if that was already arranged.
    private func nextHandOver(_ state: inout State) -> HandOver? {
        let position = state.range.position
        if state.file == nil, state.hasAskedForFile || position == state.range.end { return nil }
        guard let start = state.gathered.arrangeHandOver(at: position) else { return nil }
        return state.file == nil ? .ifItIsSlow : .toDisk(from: start)
    }

    /// Writes the bytes gathered from `start` on, unless they were submitted meanwhile. Called on the write queue,
    /// after all waiting writes. If the disk is busy, the buffer is full by then.
    private func handOver(from start: Int64) {
        let gathered = state.withLock { state -> (any SegmentTarget, PoolBuffer, count: Int)? in
            guard let file = state.file, let taken = state.gathered.take(from: start, at: state.range.position)
            else { return nil }
            return (file, taken.buffer, taken.count)
        }
        guard let (file, buffer, count) = gathered else { return }
        disk.writeNow(buffer, count: count, to: file, at: start)
    }

    private func take(
        _ bytes: UnsafeRawBufferPointer, _ state: inout State
    ) -> (BodyDisposition, asksForFile: Bool, count: Int) {
        if state.file?.refusesWrites == true {
            state.refusal = .fileRefused
            return (.refuse, false, 0)
        }
        assert(bytes.count <= GatheredBytes.longestPiece)
        state.answer.firstByteCame(disk.time)
        if let refusal = state.range.refusal(of: bytes.count, maximumSize: judge.validation.maximumSize) {
            state.refusal = refusal
            return (.refuse, false, 0)
        }
        let wanted = state.range.wanted
        // Room for all bytes is made first, because a pause must not leave a piece half taken.
        var rest = UnsafeRawBufferPointer(rebasing: bytes.prefix(wanted))
        var spare: PoolBuffer?
        switch makeRoom(for: rest.count, &state) {
        case .enough: break
        case .enoughWith(let second): spare = second
        case .tooLittle: return (.pause, state.waitsForFile && state.askForFile(), 0)
        }
        let count = state.range.counted(of: rest.count)
        while !rest.isEmpty {
            if state.gathered.buffer == nil {
                state.gathered.begin(in: spare)
                spare = nil
            }
            // A buffer that was full before the file came takes no byte, and is handed over now.
            let part = state.gathered.append(rest, at: state.range.position)
            state.range.advance(by: part.count)
            rest = UnsafeRawBufferPointer(rebasing: rest[part.count...])
            if part.isFull, state.file != nil { submit(&state) } else if part.count == 0 { break }
        }
        if let spare { disk.give(spare) }
        if bytes.count >= wanted {
            state.refusal = .cut
            return (.refuse, false, count)
        }
        return (.taken, false, count)
    }

    private enum Room {
        case enough
        /// The bytes overflow the buffer of the segment, and the rest fits in this second buffer.
        case enoughWith(PoolBuffer)
        /// The transfer must pause.
        case tooLittle
    }

    private func makeRoom(for count: Int, _ state: inout State) -> Room {
        if count == 0 { return .enough }
        if let file = state.file, state.range.position + Int64(count) > file.limit {
            // The reader of the target cannot go on without the bytes before its limit.
            submit(&state)
            return .tooLittle
        }
        if state.gathered.buffer == nil {
            guard let buffer = takeBuffer(small: state.isSmall) else { return .tooLittle }
            state.gathered.begin(in: buffer)
        }
        guard count > state.gathered.room(at: state.range.position) else { return .enough }
        guard state.file != nil else {
            state.waitsForFile = true
            return .tooLittle
        }
        guard let spare = takeBuffer() else {
            // The buffer would lie idle during the pause. Once written, it is free for any waiting transfer.
            submit(&state)
            return .tooLittle
        }
        return .enoughWith(spare)
    }

    private func takeBuffer(small: Bool = false) -> PoolBuffer? {
        if let buffer = (small ? disk.smallPool.take() : nil) ?? disk.pool.take() { return buffer }
        let buffer = disk.pool.take { [weak self, pool = disk.pool] in
            if self?.resumeTransfer() != true { pool.wakeOne() }
        }
        if buffer == nil { disk.hurry() }
        return buffer
    }

    private func submit(_ state: inout State) {
        guard let file = state.file, let (buffer, count) = state.gathered.take() else { return }
        if count == 0 { return disk.give(buffer) }
        disk.write(buffer, count: count, to: file, at: state.range.position - Int64(count))
    }

    /// Resumes the transfer. Returns false if the transfer has ended.
    @discardableResult
    func resumeTransfer() -> Bool {
        let (transfer, isFinished) = wake.withLock { wake in
            if wake.transfer == nil { wake.owesResume = true }
            return (wake.transfer, wake.isFinished)
        }
        if isFinished { return false }
        transfer?.resume()
        return true
    }

    package func transferDidFinish(_ result: TransferResult) {
        wake.withLock { wake in
            wake.isFinished = true
            wake.transfer = nil
        }
        state.withLock { state in
            state.isFinished = true
            if state.file != nil { submit(&state) }
        }
        // The pool may have freed a buffer for this segment, which needs none any more.
        disk.pool.wakeOne()
        control.send(.segmentFinished(self, result))
    }
}
