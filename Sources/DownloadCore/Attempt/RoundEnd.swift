/// Why a round of transfers ends before the whole file is here. It is thrown, because any step of a round can find it out;
/// ``AttemptTask`` does what follows.
enum RoundEnd: Error {
    /// The session asked for the end of the attempt.
    case stopped
    /// An answer proves that the bytes on disk belong to another version of the file.
    case changed(why: String)
    /// Bytes that came again differ although their validator is the same. One of the two answers brought another place of
    /// the file than it said.
    case misplaced(why: String)
    /// The URL behind the redirects no longer answers (a signed URL that expired), or not with parts. The original URL is
    /// asked again, once.
    case stale(DownloadError)

    /// The error of an attempt that ends with this; nil where the attempt was asked to stop.
    var failure: DownloadError? {
        switch self {
        case .stopped: nil
        case .changed(let why), .misplaced(let why): .verificationFailed(.changed(why))
        case .stale(let error): error
        }
    }
}

/// What a round of transfers came to.
enum RoundResult {
    /// Every byte is in the partial file.
    case complete(total: Int64)
    /// The file that is here is current: there was nothing to fetch.
    case current
    /// A file has the final name already.
    case existing(ExistingFile)
}
