import DownloadKit

struct ErrorDocument: Encodable, Equatable, Sendable {
    let kind: String
    let reason: String
    let message: String
    let curlCode: Int?
    let httpStatus: Int?
    let errno: Int32?
    let exitStatus: Int32

    init(_ error: DownloadError) {
        kind = error.kind
        reason = error.reason
        message = Redaction.describe(error)
        curlCode = error.curlCode
        httpStatus = error.httpStatus
        errno = error.systemErrno
        exitStatus = error.exitStatus
    }
}
