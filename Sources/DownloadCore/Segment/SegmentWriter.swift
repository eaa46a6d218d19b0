import Foundation
import HTTPTypes
import Synchronization

/// Receives one transfer: judges its head, gathers its bytes in pool buffers and hands them to the disk, which compares
/// those that it has already. Without a file yet it holds one buffer, then pauses until the runner attaches one.
package final class SegmentWriter: TransferSink {
    /// Which of the download's connections this is.
    package let connection: Int
    package let judge: ResponseJudge
    private let disk: DiskWriter
    private let control: RunnerControl
    let state: Mutex<State>
    /// Apart from the rest: the pool wakes writers while another writer holds its own state.
    private let wake = Mutex(Wake())

    /// - Parameters:
    ///   - file: nil for the first transfer of an attempt, which finds out what file is wanted.
    ///   - countedFrom: the bytes before it come to be compared, and do not count as received.
    ///   - countedTo: the bytes from there on, the same.
    package init(
        connection: Int, judge: ResponseJudge, file: (any SegmentTarget)?, countedFrom: Int64, countedTo: Int64 = .max,
        disk: DiskWriter, control: RunnerControl
    ) {
        self.connection = connection
        self.judge = judge
        self.disk = disk
        self.control = control
        state = Mutex(
            State(
                file: file, position: judge.start, end: judge.end, begun: disk.time.now, countedFrom: countedFrom,
                countedTo: countedTo))
    }

    deinit {
        if let buffer = state.withLock({ $0.buffer }) { disk.pool.give(buffer) }
    }

    // MARK: For the runner

    package var head: ResponseHead? { state.withLock { $0.head } }
    package var verdict: ResponseJudge.Verdict? { state.withLock { $0.verdict } }
    package var refusal: Refusal? { state.withLock { $0.refusal } }
    /// What was asked for, or announced for a whole file, and has not come. Nil without a known end.
    package var unfinished: Range<Int64>? {
        state.withLock { state in
            let answersInPart = state.head?.status == 206
            return (state.cut ?? (answersInPart ? judge.end ?? state.end : state.end)).map {
                min(state.position, $0)..<$0
            }
        }
    }
    package var position: Int64 { state.withLock { $0.position } }
    var countedStart: Int64 { state.withLock { $0.countedFrom } }
    /// The bytes of its own that came, without those that came to be compared.
    var brought: Range<Int64> {
        state.withLock { $0.countedFrom..<max($0.countedFrom, min($0.position, $0.countedTo)) }
    }
    /// The cookies that were known when those of the head were learned; nil where they were not.
    var learnedCookies: [String]? {
        get { state.withLock { $0.learnedCookies } }
        set { state.withLock { $0.learnedCookies = newValue } }
    }

    /// When bytes that are wanted began to come, and how many seconds after they were asked for; nil the next time.
    package func takeAnswer() -> (at: ContinuousClock.Instant, after: Double)? {
        state.withLock { state in
            defer { state.answered = nil }
            return state.answered.map { ($0, ($0 - state.begun) / .seconds(1)) }
        }
    }

    package func begin(_ transport: any Transport, _ request: TransferRequest) {
        let transfer = transport.start(request, sink: self)
        let wake = wake.withLock { wake in
            if !wake.isFinished { wake.transfer = transfer }
            return wake
        }
        if wake.owesCancel { transfer.cancel() } else if wake.owesResume { transfer.resume() }
    }

    /// From any thread, also while it begins.
    package func cancel() {
        let transfer = wake.withLock { wake in
            wake.owesCancel = true
            return wake.transfer
        }
        transfer?.cancel()
    }

    /// Ends it at an offset, as soon as it is there; what it brought is kept. Returns how far that goes: further, if it
    /// is past the offset already and its last bytes are beyond doubt (see ``doubtful(after:)``).
    @discardableResult
    package func shorten(to end: Int64) -> Int64 {
        let (last, isThere) = state.withLock { state in
            let last = max(end, state.position)
            state.cut = last
            // One that has only begun to compare what comes before its bytes is not waited for.
            let isThere = max(state.position, state.countedFrom) >= end
            return (state.head?.fields.value(.transferEncoding) == nil ? last : end, isThere)
        }
        if isThere { cancel() }
        return last
    }

    /// Its next bytes are told at once: then another transfer need not bring them.
    package func tellMove() { state.withLock { $0.tellsMove = true } }

    /// Gives the bytes a place; what was held back goes on.
    package func attach(_ file: any SegmentTarget) {
        let resumes = state.withLock { state in
            state.file = file
            state.handOver = nil
            if state.isFinished || state.waitsForFile || disk.pool.isContended { submit(&state) }
            defer { state.waitsForFile = false }
            return state.waitsForFile
        }
        if resumes { resumeTransfer() }
    }

    /// The head and the size of a file that came whole and plainly, and is in one buffer.
    var wholeFile: (head: ResponseHead, size: Int64)? {
        state.withLock { state in
            guard let head = state.head, case .body(offset: 0, let end, let total?)? = state.verdict, end == total,
                state.position == total, state.file == nil, state.cut == nil
            else { return nil }
            return (head, total)
        }
    }

    /// Lends the whole of a small file, which never got a file of its own.
    func withWhole<T>(_ body: (UnsafeRawBufferPointer) -> T) -> T {
        state.withLock { state in
            body(UnsafeRawBufferPointer(start: state.buffer.map { UnsafeRawPointer($0.bytes) }, count: state.filled))
        }
    }

    /// A checkpoint nears: hands over a buffer that is filled in part, or asks for a file to put it in.
    package func flush() {
        let announces = state.withLock { state in
            if state.file != nil { submit(&state) }
            guard state.file == nil, state.filled > 0, !state.isAnnounced, !state.isFinished else { return false }
            state.isAnnounced = true
            return true
        }
        if announces { control.send(.segmentOpened(self)) }
    }

    /// Gives up what never got a file.
    package func discard() {
        let buffer = state.withLock { state -> PoolBuffer? in
            guard state.file == nil else { return nil }
            defer { state.buffer = nil }
            return state.buffer
        }
        if let buffer { disk.pool.give(buffer) }
    }

    // MARK: The engine's thread

    package func transferDidReceiveHead(_ head: ResponseHead) -> HeadDisposition {
        let verdict = judge.judge(head)
        let (disposition, announces): (HeadDisposition, Bool) = state.withLock { state in
            state.head = head
            state.verdict = verdict
            switch verdict {
            case .body, .newVersion: state.awaitsFirstByte = true
            default: break
            }
            switch verdict {
            case .body(let offset, let end, let total):
                if state.file != nil, offset != judge.start {
                    // A later connection is answered from the start: of no use to it.
                    state.refusal = .verdict
                    return (.refuse, false)
                }
                if offset != judge.start { state.countedFrom = offset }
                state.position = offset
                state.end = end
                return (.accept, announce(&state, total))
            case .newVersion(let total, _):
                guard state.file == nil else {
                    state.refusal = .verdict
                    return (.refuse, false)
                }
                state.countedFrom = 0
                state.position = 0
                state.end = total
                return (.accept, announce(&state, total))
            case .redirect, .askWithoutRange, .current: return (.discard, false)
            case .failed(.serverRefused), .failed(.authenticationFailed): return (.discard, false)
            case .changed, .failed:
                state.refusal = .verdict
                return (.refuse, false)
            }
        }
        if announces { control.send(.segmentOpened(self)) }
        return disposition
    }

    /// A small body needs no file before its end; whatever is larger, or of unknown size, does.
    private func announce(_ state: inout State, _ total: Int64?) -> Bool {
        guard state.file == nil, total.map({ $0 > Int64(BufferPool.bufferSize) }) ?? false else { return false }
        state.isAnnounced = true
        return true
    }

    package func transferDidReceive(_ bytes: UnsafeRawBufferPointer) -> BodyDisposition {
        let (disposition, announces, count, tellsMove, handOver) = state.withLock { state in
            let taken = take(bytes, &state)
            defer { if taken.count > 0 { state.tellsMove = false } }
            let handOver = disk.pool.isContended ? nextHandOver(&state) : nil
            return (taken.0, taken.announces, taken.count, taken.count > 0 && state.tellsMove, handOver)
        }
        if count > 0 { control.add(received: count) }
        if tellsMove { control.send(.moved) }
        if announces { control.send(.segmentOpened(self)) }
        switch handOver {
        case .toDisk(let start)?: disk.soon { self.handOver(from: start) }
        case .ifItIsSlow?:
            disk.afterWrites(in: .milliseconds(250)) { if self.disk.pool.isContended { self.flush() } }
        case nil: break
        }
        return disposition
    }

    /// How others come by the buffer: a little later, when more has come.
    private enum HandOver {
        case toDisk(from: Int64)
        /// Without a file it must get one first. Most small bodies have come whole by then.
        case ifItIsSlow
    }

    /// Nil: there is nothing to hand over, or that is on its way.
    private func nextHandOver(_ state: inout State) -> HandOver? {
        let start = state.position - Int64(state.filled)
        if state.filled == 0 || state.handOver == start { return nil }
        if state.file == nil, state.isAnnounced || state.position == state.end { return nil }
        state.handOver = start
        return state.file == nil ? .ifItIsSlow : .toDisk(from: start)
    }

    /// Writes what is gathered from that offset on, if that was not submitted since. On the writer's queue, after all
    /// that waits there: with a busy disk the buffer is full by then.
    private func handOver(from start: Int64) {
        let gathered = state.withLock { state -> (any SegmentTarget, PoolBuffer, count: Int)? in
            guard let file = state.file, let buffer = state.buffer, state.filled > 0,
                state.position - Int64(state.filled) == start
            else { return nil }
            defer { (state.buffer, state.filled) = (nil, 0) }
            return (file, buffer, state.filled)
        }
        guard let (file, buffer, count) = gathered else { return }
        disk.writeNow(buffer, count: count, to: file, at: start)
    }

    private func take(
        _ bytes: UnsafeRawBufferPointer, _ state: inout State
    ) -> (BodyDisposition, announces: Bool, count: Int) {
        if state.file?.refusesWrites == true {
            state.refusal = .fileRefused
            return (.refuse, false, 0)
        }
        assert(bytes.count <= Self.longestPiece)
        state.firstByteCame(disk.time)
        if let end = state.end, state.position + Int64(bytes.count) > end {
            state.refusal = .tooLong
            return (.refuse, false, 0)
        }
        if let limit = judge.validation.maximumSize, state.position + Int64(bytes.count) > limit {
            state.refusal = .tooLarge
            return (.refuse, false, 0)
        }
        let wanted = state.cut.map { Int(max(0, $0 - state.position)) } ?? .max
        // First the room for all of it: a pause must leave nothing half taken.
        var rest = UnsafeRawBufferPointer(rebasing: bytes.prefix(wanted))
        guard let second = makeRoom(for: rest.count, at: state.position, &state) else {
            return (.pause, state.waitsForFile && !state.isAnnounced && announceNow(&state), 0)
        }
        let countedEnd = min(state.position + Int64(rest.count), state.countedTo)
        let count = Int(max(0, countedEnd - max(state.position, state.countedFrom)))
        var spare = second.spare
        while !rest.isEmpty {
            if state.buffer == nil {
                state.buffer = spare
                spare = nil
            }
            guard let buffer = state.buffer else { break }
            let capacity = Self.capacity(from: state.position - Int64(state.filled))
            let part = min(rest.count, capacity - state.filled)
            (buffer.bytes + state.filled).copyMemory(from: rest.baseAddress.unsafelyUnwrapped, byteCount: part)
            state.filled += part
            state.position += Int64(part)
            rest = UnsafeRawBufferPointer(rebasing: rest[part...])
            if state.filled == capacity, state.file != nil { submit(&state) }
        }
        if let spare { disk.pool.give(spare) }
        if bytes.count >= wanted {
            state.refusal = .cut
            return (.refuse, false, count)
        }
        return (.taken, false, count)
    }

    private func announceNow(_ state: inout State) -> Bool {
        state.isAnnounced = true
        return true
    }

    /// Nil: pause. The result holds a second buffer if the first will overflow.
    private func makeRoom(for count: Int, at position: Int64, _ state: inout State) -> (spare: PoolBuffer?, Void)? {
        if count == 0 { return (nil, ()) }
        if state.buffer == nil {
            guard let buffer = takeBuffer() else { return nil }
            state.buffer = buffer
            state.filled = 0
        }
        guard count > Self.capacity(from: position - Int64(state.filled)) - state.filled else { return (nil, ()) }
        guard state.file != nil else {
            state.waitsForFile = true
            return nil
        }
        guard let spare = takeBuffer() else {
            // Kept, it would lie idle; written, it is free for whoever waits.
            submit(&state)
            return nil
        }
        return (spare, ())
    }

    /// A piece that begins a buffer fits in it.
    private static let longestPiece = 64 << 10

    /// Buffers end where the file offset is a multiple of their size; one that would be very short for that, at the end
    /// of a page.
    private static func capacity(from start: Int64) -> Int {
        let size = BufferPool.bufferSize
        let room = size - Int(start % Int64(size))
        return room >= longestPiece ? room : size - Int(start % 4096)
    }

    private func takeBuffer() -> PoolBuffer? {
        disk.pool.take { [weak self, pool = disk.pool] in
            if self?.resumeTransfer() != true { pool.wakeOne() }
        }
    }

    private func submit(_ state: inout State) {
        guard let file = state.file, let buffer = state.buffer else { return }
        state.buffer = nil
        if state.filled == 0 { return disk.pool.give(buffer) }
        disk.write(buffer, count: state.filled, to: file, at: state.position - Int64(state.filled))
        state.filled = 0
    }

    /// False when there is nothing to go on with.
    @discardableResult
    private func resumeTransfer() -> Bool {
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
        // A buffer may have been freed for this one; it needs none any more.
        disk.pool.wakeOne()
        control.send(.segmentFinished(self, result))
    }
}
