import DownloadCore
import Foundation

/// Everything that is needed to resume a download, in this process or a later one: the request, the validators of the
/// remote file's version, and the ranges on disk. The bytes themselves stay in the partial file.
///
/// The value is `Codable`, so that it can be kept in a file or a database. Passwords and other secrets are not encoded.
public struct ResumeData: Codable, Sendable, Equatable {
    let record: DownloadRecord

    init(_ record: DownloadRecord) { self.record = record }

    public init(from decoder: any Decoder) throws { record = try DownloadRecord(from: decoder) }

    public func encode(to encoder: any Encoder) throws { try record.encode(to: encoder) }

    /// The request of the download.
    public var request: DownloadRequest { record.request }
    /// The number of bytes on disk.
    public var received: Int64 { record.received }
    /// The size of the file in bytes; nil while it is unknown.
    public var total: Int64? { record.resume.total }
    /// The `ETag` of the version to which the bytes belong.
    public var etag: String? { record.resume.validators.etag?.fieldValue }
    /// The `Last-Modified` of the version to which the bytes belong.
    public var lastModified: String? { record.resume.validators.lastModified }
    /// The partial file; nil while the name of the file is not decided.
    public var partialFile: URL? {
        record.finalPath.map { URL(fileURLWithPath: FileNaming.partial($0), isDirectory: false) }
    }

    /// Whether the data is plausible. False if the name leads out of the folder, if there are bytes beyond the end of
    /// the file, or if the folder is not an absolute path.
    var isUsable: Bool {
        let isName = record.fileName.map { !$0.contains("/") && FileNaming.isUsable($0) } ?? true
        let end = record.resume.written.ranges.last?.upperBound ?? 0
        return isName && end <= record.resume.total ?? .max && record.request.destination.folder.hasPrefix("/")
    }
}
