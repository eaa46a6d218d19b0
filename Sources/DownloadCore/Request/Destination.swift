/// Where the finished file goes: Alamofire's destination closure as a value. See ``folder(_:ifExists:createsFolders:)``
/// and ``file(_:ifExists:createsFolders:)``.
public struct Destination: Sendable, Equatable {
    /// What to do when the final name is taken.
    public enum IfExists: String, Codable, Sendable, CaseIterable {
        /// Fail with ``FileFailure/exists``, and touch nothing.
        case fail
        /// Replace it once the new file is complete.
        case overwrite
        /// Take `name (1).ext`, `name (2).ext`, ...
        case rename
        /// Leave it and succeed.
        case skip
        /// Replace it only when the server has a newer one.
        case newer
    }

    /// Absolute path.
    public var folder: String
    /// The name asked for; nil leaves it to the server's answer, or to the URL.
    public var fileName: String?
    /// What to do when the final name is taken.
    public var ifExists: IfExists
    /// True makes the folders that are missing.
    public var createsFolders: Bool
    /// The name may come from `Content-Disposition` (RFC 6266); otherwise the URL gives it.
    public var takesServerName = true
    /// The finished file is as old as `Last-Modified` says, and not as new as its download.
    public var keepsRemoteTime = false
    /// A file that has the final name already is taken for the beginning of the server's, if its end is the same.
    public var continues = false

    package init(
        folder: String, fileName: String? = nil, ifExists: IfExists = .fail, createsFolders: Bool = true
    ) {
        self.folder = folder
        self.fileName = fileName
        self.ifExists = ifExists
        self.createsFolders = createsFolders
    }
}

extension Destination: DocumentObject {
    static let documentFields: [DocumentField<Destination>] = [
        DocumentField("ifExists", \.ifExists, isAlwaysWritten: true),
        DocumentField("createsFolders", \.createsFolders, isAlwaysWritten: true),
        DocumentField("takesServerName", \.takesServerName),
        DocumentField("keepsRemoteTime", \.keepsRemoteTime),
        DocumentField("continues", \.continues),
        DocumentField("folder", \.folder),
        DocumentField("fileName", \.fileName),
    ]
}
