import DownloadKit

/// A line of `dlm verify`.
struct VerifiedDocument: Document {
    var version = 1
    var event = "verified"
    /// The id of the file's download; nil if dlm has not downloaded the file.
    let id: DownloadID?
    let path: String
    /// Whether the file matches ``checksum``.
    var verified = false
    /// The checksum that the file must match; nil if none is known.
    var checksum: String?
    /// The source of the checksum: `given` (this command), `user` (given when the file was downloaded), or `server`.
    var source: String?
    var bytes: Int64?
    var error: ErrorDocument?

    init(_ subject: VerifySubject) {
        id = subject.record?.id
        path = subject.path
    }
}
