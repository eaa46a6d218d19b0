/// Why a round of transfers ends before the whole file is here. Any step of a round can find it out and throws it.
enum RoundEnd: Error {
    /// The session asked for the end of the attempt.
    case stopped
    /// An answer proves that the bytes on disk belong to another version of the file.
    case changed(why: String)
    /// Bytes that came again differ under the same validator: one of two answers brought another place than it said.
    case misplaced(why: String)
    /// The URL behind the redirects no longer answers, or not with parts: the original URL is asked again, once.
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
