import DownloadCore

/// Everything that is needed to go on with a download, in this process or a later one: the request, what identifies the
/// version of the remote file, and which bytes are here. The bytes themselves stay in the partial file.
///
/// The value is `Codable`, to be kept in a file or a database. Passwords and other secrets are not encoded.
public struct ResumeData: Codable, Sendable, Equatable {
    let record: DownloadRecord

    init(_ record: DownloadRecord) { self.record = record }

    public init(from decoder: any Decoder) throws { record = try DownloadRecord(from: decoder) }

    public func encode(to encoder: any Encoder) throws { try record.encode(to: encoder) }

    /// The request of the download.
    public var request: DownloadRequest { record.request }
    /// The bytes that are here.
    public var received: Int64 { record.received }
    /// The size of the file in bytes; nil while it is unknown.
    public var total: Int64? { record.resume.total }
    /// The `ETag` of the version that the bytes are of.
    public var etag: String? { record.resume.validators.etag?.fieldValue }
    /// The `Last-Modified` of the version that the bytes are of.
    public var lastModified: String? { record.resume.validators.lastModified }
    /// The path of the partial file; nil when nothing was fetched.
    public var partialFile: String? { record.finalPath.map { FileNaming.partial($0) } }

    /// False for what no download can have left: names that lead out of the folder, and bytes beyond the end.
    var isUsable: Bool {
        let isName = record.fileName.map { !$0.contains("/") && FileNaming.isUsable($0) } ?? true
        let end = record.resume.written.ranges.last?.upperBound ?? 0
        return isName && end <= record.resume.total ?? .max && record.request.destination.folder.hasPrefix("/")
    }
}
