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
    /// The last attempts, at most 20. The newest attempt is last. An attempt with a transfer has its
    /// ``TransferMetrics``.
    public let attempts: [AttemptRecord]
    /// The digest with which the file was verified, and the source of the digest; nil if the file was not verified.
    public let verified: VerifiedChecksum?
    /// Whether nothing was fetched, because the file already existed and the server said that it is still current.
    public let wasCurrent: Bool

    /// The times and other metrics of the first transfer of the last attempt; nil if there was no transfer.
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

/// The server's response for a file. It has the properties of `HTTPURLResponse` that dlm records.
public struct DownloadResponse: Sendable, Equatable {
    /// The URL to which the redirects led.
    public let url: SourceURL
    /// The media type, without parameters.
    public let contentType: String?
    /// The `ETag` field.
    public let etag: String?
    /// The `Last-Modified` field.
    public let lastModified: String?
    /// Whether the server answers requests for parts of the file.
    public let acceptsRanges: Bool

    init(_ record: DownloadRecord, _ validators: Validators) {
        url = record.resume.finalURL ?? record.source
        contentType = record.resume.contentType
        etag = validators.etag?.fieldValue
        lastModified = validators.lastModified
        acceptsRanges = record.resume.acceptsRanges
    }
}
