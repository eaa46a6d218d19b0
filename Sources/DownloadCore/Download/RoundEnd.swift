/// Why a round of transfers ends before the whole file is here, where that is no error of the download. Thrown, because
/// any step of a round may find it out; ``DownloadRunner/ends(after:restart:)`` says what follows.
enum RoundEnd: Error {
    /// The session asked for the end of the attempt.
    case stopped
    /// An answer proves that what is on disk belongs to another version of the file.
    case changed(why: String)
    /// Bytes that come again differ though their validator is the same: one of the two answers was not from where it said.
    case misplaced(why: String)
    /// Where the redirects led does not answer any more (a signed URL that expired), or not with parts: the original URL is
    /// asked again, once.
    case stale(DownloadError)
    /// A file has the final name that may be the beginning of what is wanted.
    case continuable(DownloadRunner.Continuable)
    /// The file that has the final name is to be left alone, and that is success.
    case alreadyThere(CompletedFile)
}
