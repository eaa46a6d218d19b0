/// The meaning of a transfer's end for its attempt.
package enum TransferOutcome: Sendable, Equatable {
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

    /// The error for a file that stays incomplete because 206 answers were shorter than the requested ranges. RFC 9110
    /// allows such answers.
    package static let tooShort = DownloadError.protocolViolated(.wrongRange("the answers were shorter than requested"))
    package static let redirectOfPart = DownloadError.protocolViolated(
        .wrongRange("a redirect instead of a part of the file"))
}

/// The facts about a transfer that has ended. ``outcome`` is computed from them.
package struct EndedTransfer: Sendable, Equatable {
    /// The reason why a sink ended its transfer.
    package enum Refusal: Sendable, Equatable {
        case verdict
        case tooLong
        /// The body is larger than the user's limit, and its size was not announced.
        case tooLarge
        /// The wanted bytes have come.
        case cut
        /// The file failed, or its bytes differ from those that came.
        case fileRefused
    }

    let result: TransferResult
    /// The verdict on the head of the answer, or nil if no head came.
    var verdict: ResponseJudge.Verdict?
    /// The reason why the sink ended the transfer, or nil if the sink did not end it.
    var refusal: Refusal?
    /// Whether the range was shortened after it was requested.
    var isCut: Bool
    /// Whether all requested bytes have come. Always false if the size of the file is unknown.
    var hasAll: Bool
    /// The maximum size in bytes that the user allows, if the sink checks it.
    var maximumSize: Int64?
    /// The error for a body that continues after its Content-Length. Nil if a digest proves the file, or if the user
    /// accepts an unverified file.
    var excess: DownloadError?

    package init(
        result: TransferResult, verdict: ResponseJudge.Verdict?, refusal: Refusal? = nil, isCut: Bool = false,
        hasAll: Bool = false, maximumSize: Int64? = nil, excess: DownloadError? = overlong
    ) {
        self.result = result
        self.verdict = verdict
        self.refusal = refusal
        self.isCut = isCut
        self.hasAll = hasAll
        self.maximumSize = maximumSize
        self.excess = excess
    }

    /// The ending of the transfer. It is a failure if the body is longer than its `Content-Length` and nothing else
    /// proves that the file is complete.
    package var ending: TransferResult.Ending {
        guard result.ending == .complete, result.exceedsLength, let excess else { return result.ending }
        return .failed(excess)
    }

    /// The error for a body that is longer than its `Content-Length`, if nothing proves that the file is whole.
    package static let overlong = DownloadError.protocolViolated(
        .malformedReply(
            "the server sends more bytes than its Content-Length announces; only a checksum can prove that the file is "
                + "complete"))

    package var outcome: TransferOutcome {
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
