/// The meaning of the end of a transfer for the attempt that made it.
enum TransferOutcome: Sendable, Equatable {
    /// The answer ended by its own framing; it may be shorter than asked (RFC 9110 section 15.3.7).
    case complete
    /// Nothing is missing of the answer: its last bytes are here, or other transfers bring them.
    case cut
    /// The attempt ended the transfer.
    case stopped
    /// The server has the answer at another URL.
    case redirected(to: String)
    /// The file takes no more bytes, and says why: a write failed, or what came differs from what is there.
    case fileRefused
    /// The server has another version of the file: start over.
    case changed(why: String)
    /// The connection failed. What came before is kept, and the rest may be asked for again.
    case lost(DownloadError)
    /// The server did not give what was asked for; it may answer another connection, or later.
    case declined(DownloadError)
    /// The answer cannot be the file, whoever asks for it: fail.
    case failed(DownloadError)

    /// The error that an attempt with one transfer ends with; nil where nothing is missing.
    var error: (any Error)? {
        switch self {
        case .complete, .cut: nil
        case .stopped: RoundEnd.stopped
        case .changed(let why): RoundEnd.changed(why: why)
        case .redirected: Self.redirectOfPart
        case .fileRefused: DownloadError.unexpected("the file takes no bytes")
        case .lost(let error), .declined(let error), .failed(let error): error
        }
    }

    /// RFC 9110 allows a 206 that is shorter than asked. This is the error where such answers bring nothing.
    static let tooShort = DownloadError.protocolViolated(.wrongRange("answers shorter than asked"))
    static let redirectOfPart = DownloadError.protocolViolated(.wrongRange("a redirect for a part of the file"))
}

/// The facts of a transfer that has ended. A pure value; ``outcome`` is the rule.
struct EndedTransfer: Sendable, Equatable {
    let result: TransferResult
    /// The verdict on its answer; nil if no head came.
    var verdict: ResponseJudge.Verdict?
    /// Why the sink ended the transfer; nil if the sink did not.
    var refusal: SegmentWriter.Refusal?
    /// The end of the wanted range was moved forward after the request.
    var isCut = false
    /// All that was asked for has come, of a file whose size is known.
    var hasAll = false
    /// The most bytes that the user takes, where the sink looked for that.
    var maximumSize: Int64?
    /// The error of a body that goes on after its length; nil where a digest, or the user, can call it whole.
    var excess: DownloadError? = SegmentWriter.overlong

    /// How the transfer ended: in failure, if its body exceeds its length and nothing else proves the body.
    var ending: TransferResult.Ending {
        guard result.ending == .complete, result.exceedsLength, let excess else { return result.ending }
        return .failed(excess)
    }

    var outcome: TransferOutcome {
        switch ending {
        case .cancelled: isCut ? .cut : .stopped
        case .failed(let error) where error == excess: .failed(error)
        // A transfer that was cut off after its last byte lacks nothing.
        case .failed(let error): hasAll ? .cut : .lost(error)
        case .complete, .refused: answered
        }
    }

    /// The meaning of an end with which the transport is content; the sink may have refused the answer.
    private var answered: TransferOutcome {
        switch refusal {
        case .cut: .cut
        case .fileRefused: .fileRefused
        case .tooLong: .failed(.protocolViolated(.wrongRange("more bytes than announced")))
        case .tooLarge: .failed(.verificationFailed(.tooLarge(limit: maximumSize ?? 0, size: nil)))
        case .verdict, nil: judged
        }
    }

    private var judged: TransferOutcome {
        let isTaken = refusal == nil && result.ending == .complete
        return switch verdict {
        case .body? where isTaken, .newVersion? where isTaken: .complete
        case .changed(let why)?, .newVersion(_, let why)?: .changed(why: why)
        case .redirect(let location)?: .redirected(to: location)
        case .failed(let error)?: .declined(error)
        case .body?, .current?, .askWithoutRange?:
            .declined(.protocolViolated(.wrongRange("the whole file for a part of it")))
        case nil: .declined(.protocolViolated(.malformedReply("no response head")))
        }
    }
}
