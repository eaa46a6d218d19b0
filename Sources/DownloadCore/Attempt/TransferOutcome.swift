/// The meaning of a transfer's end for its attempt.
enum TransferOutcome: Sendable, Equatable {
    /// The answer ended by its own framing. It may be shorter than the range that was asked for (RFC 9110 section
    /// 15.3.7).
    case complete
    /// The transfer ended early and nothing is missing: its last bytes have come, or other connections fetch them.
    case cut
    /// The attempt itself ended the transfer.
    case stopped
    /// The server redirects the request to another URL.
    case redirected(to: String)
    /// The file takes no more bytes. The reason is recorded in the file object: a write failed, or received bytes
    /// differ from the bytes on disk.
    case fileRefused
    /// The server has another version of the file, so the download starts over.
    case changed(why: String)
    /// The connection failed. Bytes that came before are kept, and the rest may be requested again.
    case lost(DownloadError)
    /// The server did not send the requested bytes. It may send them over another connection, or later.
    case declined(DownloadError)
    /// The answer cannot be the file, whichever connection asks for it, so the attempt fails.
    case failed(DownloadError)

    /// The error that ends an attempt which has only this transfer, or nil if the outcome is no error.
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

    /// The error for a file that stays incomplete because 206 answers were shorter than the requested ranges. RFC 9110
    /// allows such answers.
    static let tooShort = DownloadError.protocolViolated(.wrongRange("the answers were shorter than requested"))
    static let redirectOfPart = DownloadError.protocolViolated(.wrongRange("a redirect instead of a part of the file"))
}

/// The facts about a transfer that has ended. ``outcome`` is computed from them.
struct EndedTransfer: Sendable, Equatable {
    let result: TransferResult
    /// The verdict on the head of the answer, or nil if no head came.
    var verdict: ResponseJudge.Verdict?
    /// The reason why the sink ended the transfer, or nil if the sink did not end it.
    var refusal: SegmentWriter.Refusal?
    /// Whether the range was shortened after it was requested.
    var isCut = false
    /// Whether all requested bytes have come. Always false if the size of the file is unknown.
    var hasAll = false
    /// The maximum size in bytes that the user allows, if the sink checks it.
    var maximumSize: Int64?
    /// The error for a body that continues after its Content-Length. Nil if a digest proves the file, or if the user
    /// accepts an unverified file.
    var excess: DownloadError? = SegmentWriter.overlong

    /// The ending of the transfer. It is a failure if the body is longer than its `Content-Length` and nothing else
    /// proves that the file is complete.
    var ending: TransferResult.Ending {
        guard result.ending == .complete, result.exceedsLength, let excess else { return result.ending }
        return .failed(excess)
    }

    var outcome: TransferOutcome {
        switch ending {
        case .cancelled: isCut ? .cut : .stopped
        case .failed(let error) where error == excess: .failed(error)
        // The connection broke after the last byte, so nothing is missing.
        case .failed(let error): hasAll ? .cut : .lost(error)
        case .complete, .refused: answered
        }
    }

    /// The outcome if the transport reported no failure. The sink may still have refused the answer.
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
            .declined(.protocolViolated(.wrongRange("the whole file instead of a part")))
        case nil: .declined(.protocolViolated(.malformedReply("no response head")))
        }
    }
}
