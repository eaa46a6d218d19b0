import DownloadCore

/// The reason why a round of transfers ends before the whole file has come. Any step of a round can throw it.
enum RoundEnd: Error {
    /// The session asked for the end of the attempt.
    case stopped
    /// An answer proves that the bytes on disk belong to another version of the file.
    case changed(why: String)
    /// Bytes that were fetched twice differ under the same validator. One of the two answers had bytes from another
    /// place of the file than its `Content-Range` said.
    case misplaced(why: String)
    /// The answers to requests for parts cannot be used. The file is requested without a range, and the bytes on disk
    /// are compared with the answer.
    case partsUnusable(DownloadError)

    /// The error of an attempt that ends for this reason; nil if the attempt was asked to stop.
    var failure: DownloadError? {
        switch self {
        case .stopped: nil
        case .changed(let why), .misplaced(let why): .verificationFailed(.changed(why))
        case .partsUnusable(let error): error
        }
    }
}

extension TransferOutcome {
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
}
