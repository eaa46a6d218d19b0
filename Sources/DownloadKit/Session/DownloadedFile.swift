import DownloadCore
import Foundation

/// A finished download.
public struct DownloadedFile: Sendable, Equatable {
    /// The finished file, under its final name.
    public let url: URL
    /// The size of the file in bytes.
    public let byteCount: Int64
    /// What the server said of the file.
    public let response: DownloadResponse
    /// The attempts that it took, the newest last, each with its ``TransferMetrics``; at most 20.
    public let attempts: [AttemptRecord]
    /// The digest that the file was verified with, and who gave it; nil when there was none.
    public let verified: VerifiedChecksum?
    /// True when the file was here already, and the server said that it is still current: nothing was fetched.
    public let wasCurrent: Bool

    /// What the transfers of the last attempt cost; nil when nothing was fetched.
    public var metrics: TransferMetrics? { attempts.last?.metrics }

    init(_ record: DownloadRecord) throws(DownloadError) {
        guard let completed = record.completed else { throw .unexpected("the record of the finished file is missing") }
        url = URL(fileURLWithPath: completed.path, isDirectory: false)
        byteCount = completed.bytes
        response = DownloadResponse(record, completed.validators)
        attempts = record.attempts
        verified = completed.verified
        wasCurrent = completed.wasCurrent
    }
}

/// What the server said of a file: the part of `HTTPURLResponse` that is kept.
public struct DownloadResponse: Sendable, Equatable {
    /// The address that the redirects led to.
    public let url: String
    /// The media type, without parameters.
    public let contentType: String?
    /// The `ETag` field.
    public let etag: String?
    /// The `Last-Modified` field.
    public let lastModified: String?
    /// True when the server answers requests for parts of the file.
    public let acceptsRanges: Bool

    init(_ record: DownloadRecord, _ validators: Validators) {
        url = (record.resume.finalURL ?? record.source).string
        contentType = record.resume.contentType
        etag = validators.etag?.fieldValue
        lastModified = validators.lastModified
        acceptsRanges = record.resume.acceptsRanges
    }
}
