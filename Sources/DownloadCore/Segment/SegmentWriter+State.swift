import HTTPTypes
import Synchronization

extension SegmentWriter {
    /// Why this sink ended the transfer itself.
    package enum Refusal: Sendable, Equatable {
        case verdict
        case tooLong
        /// More than the user takes, where nobody had said how much it is.
        case tooLarge
        /// What it was to bring is here; see ``SegmentWriter/shorten(to:)``.
        case cut
        /// It failed, or what it has differs from what came.
        case fileRefused
    }

    /// What its threads share.
    struct State {
        var head: ResponseHead?
        var verdict: ResponseJudge.Verdict?
        var refusal: Refusal?
        var file: (any SegmentTarget)?
        /// Where the next byte goes.
        var position: Int64
        var end: Int64?
        /// The runner waits for its next bytes.
        var tellsMove = false
        /// Less was wanted after it was asked for.
        var cut: Int64?
        var begun: ContinuousClock.Instant
        var answered: ContinuousClock.Instant?
        /// The head has come, and nothing of the body.
        var awaitsFirstByte = false
        /// The bytes before it are here already and do not count as received.
        var countedFrom: Int64
        /// The bytes from here on come to be compared, and do not count as received.
        var countedTo: Int64 = .max
        var learnedCookies: [String]?
        var buffer: PoolBuffer?
        var filled = 0
        var isAnnounced = false
        var isFinished = false
        var waitsForFile = false
        /// The offset from which the buffer is to go to the disk as it is (see ``handOver(from:)``).
        var handOver: Int64?

        /// The answer begins with its body: some servers send the head at once and look for the file afterwards.
        mutating func firstByteCame(_ time: any TimeSource) {
            if awaitsFirstByte { answered = time.now }
            awaitsFirstByte = false
        }
    }

    /// Nothing else is locked while this is.
    struct Wake {
        var transfer: (any Transfer)?
        /// Woken, or cancelled, before the transfer was known.
        var owesResume = false
        var owesCancel = false
        var isFinished = false
    }

    // MARK: The end

    /// What its end means depends on these.
    /// - Parameters:
    ///   - hasAll: all that was asked for has come, of a file whose size is known.
    ///   - excess: see ``EndedTransfer/excess``.
    func ended(
        _ result: TransferResult, hasAll: Bool = false, excess: DownloadError? = SegmentWriter.overlong
    ) -> EndedTransfer {
        state.withLock { state in
            EndedTransfer(
                result: result, verdict: state.verdict, refusal: state.refusal, isCut: state.cut != nil,
                hasAll: hasAll, maximumSize: judge.validation.maximumSize, excess: excess)
        }
    }

    /// What it brought and may not belong to the file: all of it where more came than announced or its chunks are
    /// malformed; the last of it where it ended between chunks, whose sizes may have been wrong a little before.
    package func doubtful(after ending: TransferResult.Ending) -> Range<Int64> {
        state.withLock { state in
            let isChunked = state.head?.fields.value(.transferEncoding) != nil
            let begin = state.head?.status == 206 ? judge.start : 0
            let kept: Int64 =
                switch ending {
                case .refused where state.refusal == .tooLong, .failed(Self.overlong),
                    .failed(.protocolViolated) where isChunked:
                    begin
                case .failed where isChunked && state.position != state.end, .cancelled where isChunked:
                    max(begin, state.position - Self.chunkDoubt)
                default: state.position
                }
            return kept..<max(kept, state.position)
        }
    }

    /// What becomes of a body that exceeds its length, where nothing proves that it is whole.
    package static let overlong = DownloadError.protocolViolated(
        .malformedReply(
            "the server sends more bytes than its Content-Length announces; only a checksum can prove that the file is "
                + "complete"))

    private static let chunkDoubt: Int64 = 64 << 10

    /// Its answer in part says one thing in one place and another elsewhere: about the range, or about its length.
    package var isContradictory: Bool {
        state.withLock { state in
            guard state.head?.status == 206 else { return false }
            if case .failed(.protocolViolated(.wrongRange))? = state.verdict { return true }
            return state.refusal == .tooLong
        }
    }
}
