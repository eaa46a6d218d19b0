import DownloadKit

/// A line of `dlm verify`.
struct VerifiedDocument: Document {
    var version = 1
    var event = "verified"
    /// Of the download, where there is one.
    let id: DownloadID?
    let path: String
    /// It hashes to `checksum`.
    var verified = false
    /// What it must hash to; nil when nothing says that.
    var checksum: String?
    /// Who says so: `given` with the command, the `user` when it was downloaded, or the `server`.
    var source: String?
    /// Bytes hashed.
    var bytes: Int64?
    var error: ErrorDocument?

    init(_ subject: VerifySubject) {
        id = subject.record?.id
        path = subject.path
    }
}
