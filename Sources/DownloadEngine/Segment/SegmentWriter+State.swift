import DownloadCore
import HTTPTypes
import Synchronization

extension SegmentWriter {
    /// The state that the threads of the writer share.
    struct State {
        var head: ResponseHead?
        var verdict: ResponseJudge.Verdict?
        var refusal: EndedTransfer.Refusal?
        var file: (any SegmentTarget)?
        var range: SegmentRange
        var answer: AnswerTime
        var gathered = GatheredBytes()
        /// Whether the next bytes are reported to the attempt.
        var tellsMove = false
        var learnedCookies: [String]?
        /// Whether the segment has asked the attempt for a file.
        private(set) var hasAskedForFile = false
        var isFinished = false
        /// Whether the transfer is paused until a file is attached.
        var waitsForFile = false

        /// Records that the segment asks the attempt for a file. Returns false if it has asked before.
        mutating func askForFile() -> Bool {
            defer { hasAskedForFile = true }
            return !hasAskedForFile
        }

        /// Whether the file is known to fit in a small buffer, and no byte of it has come.
        var isSmall: Bool {
            file == nil && range.position == 0 && range.end.map { $0 <= Int64(BufferPool.smallSize) } ?? false
        }
    }

    /// The time at which the wanted bytes began to come. Some servers send the head at once and look for the file
    /// afterwards, so the first byte of the body counts.
    struct AnswerTime {
        private let begun: ContinuousClock.Instant
        private var answered: ContinuousClock.Instant?
        /// Whether the head has come, but no byte of the body yet.
        private var awaitsFirstByte = false

        init(begun: ContinuousClock.Instant) { self.begun = begun }

        mutating func headCame() { awaitsFirstByte = true }

        mutating func firstByteCame(_ time: any TimeSource) {
            if awaitsFirstByte { answered = time.now }
            awaitsFirstByte = false
        }

        /// Returns the moment of the first byte, and the seconds from the request to this moment. Only the first call
        /// after the first byte returns them; further calls return nil.
        mutating func take() -> (at: ContinuousClock.Instant, after: Double)? {
            defer { answered = nil }
            return answered.map { ($0, ($0 - begun) / .seconds(1)) }
        }
    }

    /// The state for waking the transfer. While it is locked, no other lock is taken.
    struct Wake {
        var transfer: (any Transfer)?
        /// Whether the transfer was woken or cancelled before `transfer` was set.
        var owesResume = false
        var owesCancel = false
        var isFinished = false
    }

    // MARK: The end

    /// Returns the values on which the meaning of the transfer's end depends.
    /// - Parameters:
    ///   - hasAll: whether all requested bytes have come, of a file whose size is known.
    ///   - excess: see ``EndedTransfer/excess``.
    func ended(
        _ result: TransferResult, hasAll: Bool = false, excess: DownloadError? = EndedTransfer.overlong
    ) -> EndedTransfer {
        state.withLock { state in
            EndedTransfer(
                result: result, verdict: state.verdict, refusal: state.refusal, isCut: state.range.cut != nil,
                hasAll: hasAll, maximumSize: judge.validation.maximumSize, excess: excess)
        }
    }

    /// Returns the bytes of this transfer that may not belong to the file. If more bytes came than were announced, or
    /// if the chunks are malformed, all bytes are doubtful. If a chunked body was cancelled, or failed before the end
    /// of its range, its last 64 KiB are doubtful: the last chunk sizes may have been wrong, so that other bytes were
    /// taken for bytes of the file.
    package func doubtful(after ending: TransferResult.Ending) -> Range<Int64> {
        state.withLock { state in
            let isChunked = state.head?.fields.value(.transferEncoding) != nil
            let begin = state.range.start
            let kept: Int64 =
                switch ending {
                case .refused where state.refusal == .tooLong, .failed(EndedTransfer.overlong),
                    .failed(.protocolViolated) where isChunked:
                    begin
                case .failed where isChunked && state.range.position != state.range.end, .cancelled where isChunked:
                    max(begin, state.range.position - Self.chunkDoubt)
                default: state.range.position
                }
            return kept..<max(kept, state.range.position)
        }
    }

    private static let chunkDoubt: Int64 = 64 << 10

    /// Whether the partial answer contradicts itself, about its range or about its length.
    package var isContradictory: Bool {
        state.withLock { state in
            guard state.head?.status == 206 else { return false }
            if case .failed(.protocolViolated(.wrongRange))? = state.verdict { return true }
            return state.refusal == .tooLong
        }
    }
}
