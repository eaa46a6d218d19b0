import DownloadCore
import Foundation

/// A finished download.
public struct DownloadedFile: Sendable, Equatable {
    /// The finished file, under its final name.
    public let url: URL
    /// The size of the file in bytes.
    public let byteCount: Int64
    /// The server's response.
    public let response: DownloadResponse
    /// The last attempts, at most 20, the newest last. Each attempt has its ``TransferMetrics``.
    public let attempts: [AttemptRecord]
    /// The digest with which the file was verified, and its source; nil if there was none.
    public let verified: VerifiedChecksum?
    /// Whether the file existed already and the server said that it is still current, so that nothing was fetched.
    public let wasCurrent: Bool

    /// The times and other metrics of the last attempt; nil if nothing was fetched.
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

/// The server's response for a file: the part of `HTTPURLResponse` that is kept.
public struct DownloadResponse: Sendable, Equatable {
    /// The URL to which the redirects led.
    public let url: String
    /// The media type, without parameters.
    public let contentType: String?
    /// The `ETag` field.
    public let etag: String?
    /// The `Last-Modified` field.
    public let lastModified: String?
    /// Whether the server answers requests for parts of the file.
    public let acceptsRanges: Bool

    init(_ record: DownloadRecord, _ validators: Validators) {
        url = (record.resume.finalURL ?? record.source).string
        contentType = record.resume.contentType
        etag = validators.etag?.fieldValue
        lastModified = validators.lastModified
        acceptsRanges = record.resume.acceptsRanges
    }
}
