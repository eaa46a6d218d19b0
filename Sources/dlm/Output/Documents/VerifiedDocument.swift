import DownloadKit

/// A line of `dlm verify`.
struct VerifiedDocument: Document {
    var version = 1
    var event = "verified"
    let id: DownloadID?
    let path: String
    var verified = false
    var checksum: String?
    var source: String?
    var bytes: Int64?
    var error: ErrorDocument?

    init(_ subject: VerifySubject) {
        id = subject.record?.id
        path = subject.path
    }
}
