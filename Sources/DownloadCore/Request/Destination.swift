import HTTPTypes

/// The place of the finished file: the counterpart of Alamofire's destination closure, as a value. See
/// ``folder(_:ifExists:createsFolders:)`` and ``file(_:ifExists:createsFolders:)``.
public struct Destination: Sendable, Equatable {
    /// The behaviour if the final name is taken.
    public enum IfExists: String, Codable, Sendable, CaseIterable {
        /// The download fails with ``FileFailure/exists``, and no file is changed.
        case fail
        /// The existing file is replaced when the new file is complete.
        case overwrite
        /// The file is called `name (1).ext`, `name (2).ext` and so on.
        case rename
        /// The existing file is not changed, and the download succeeds.
        case skip
        /// The existing file is replaced only if the server has a newer file.
        case newer
    }

    /// The folder, as an absolute path.
    public var folder: String
    /// The requested name; nil to use the name from the server's answer, or from the URL.
    public var fileName: String?
    /// The behaviour if the final name is taken.
    public var ifExists: IfExists
    /// Whether missing folders are created.
    public var createsFolders: Bool
    /// Whether the name may come from `Content-Disposition` (RFC 6266). If false, the name comes from the URL.
    public var takesServerName = true
    /// Whether the finished file gets the time in `Last-Modified` as its modification time.
    public var keepsRemoteTime = false
    /// Whether a file with the final name is continued, if its last bytes are the same as the server's.
    public var continues = false
    /// Whether the folder's path may contain symbolic links. A download that came over the network has a path without
    /// links, so that a link that is made later cannot lead it to another folder.
    package var followsLinks = true

    package init(
        folder: String, fileName: String? = nil, ifExists: IfExists = .fail, createsFolders: Bool = true
    ) {
        self.folder = folder
        self.fileName = fileName
        self.ifExists = ifExists
        self.createsFolders = createsFolders
    }
}

extension Destination {
    /// Returns the requested name, or the name that the server gives.
    package func name(of head: ResponseHead, from url: SourceURL) -> String {
        fileName ?? FileNaming.name(contentDisposition: disposition(head), url: url)
    }

    /// Returns the value of the `Content-Disposition` field, which may name the file, or nil if the user wants the name
    /// in the URL.
    func disposition(_ head: ResponseHead) -> String? {
        takesServerName ? head.fields.values(.contentDisposition).first : nil
    }
}

extension Destination: DocumentObject {
    static let documentFields: [DocumentField<Destination>] = [
        DocumentField("ifExists", \.ifExists),
        DocumentField("createsFolders", \.createsFolders),
        DocumentField("takesServerName", \.takesServerName),
        DocumentField("keepsRemoteTime", \.keepsRemoteTime),
        DocumentField("continues", \.continues),
        DocumentField("followsLinks", \.followsLinks),
        DocumentField("folder", \.folder),
        DocumentField("fileName", \.fileName),
    ]
}
