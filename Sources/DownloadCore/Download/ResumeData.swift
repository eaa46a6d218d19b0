/// Everything needed to go on with a partial file, and to refuse when it no longer belongs to the remote.
public struct ResumeData: Codable, Sendable, Equatable {
    public var validators = Validators()
    /// The size of the whole representation, once known.
    public var total: Int64?
    /// Where the redirects led.
    public var finalURL: SourceURL?
    /// The media type the download began with.
    public var contentType: String?
    /// The content coding of the bytes that are here (RFC 9110 section 8.4), which nobody asked for: parts of another
    /// coding do not fit.
    public var contentEncoding: String?
    /// The server answered a range request with 206.
    public var acceptsRanges = false
    /// `pwrite` has returned: safe against the death of the process.
    public var written = ByteRanges()
    /// `fdatasync` has returned: safe against power loss.
    public var durable = ByteRanges()
    /// The partial file.
    public var file: FileIdentity?
    /// When the partial file last changed, in nanoseconds since 1970, if its last attempt ended in order: later changes
    /// are not ours.
    public var modified: Int64?
    /// `modified` of a file that another program wrote to during an attempt: no time of change will do.
    static let altered: Int64 = .min
    /// The file system it lies on, as the kernel numbers them on this boot.
    public var device: UInt64?
    /// The boot that `written` belongs to: after another one only `durable` counts.
    public var bootID: String?
    /// All bytes came, and this checksum did not match: another try with the same one begins anew.
    public var mismatched: Checksum?
    /// What the server says that this version hashes to.
    public var digest: Checksum?
    /// All bytes came, and hash to this.
    public var verified: VerifiedChecksum?
    /// The name that the server gave it, where its checksum is to be found in a list.
    public var servedName: String?
    /// Where the bytes that are here came from, until those behind the new address have proved to be the same file: a
    /// difference is an error then, and no reason to start over.
    public var movedFrom: SourceURL?
    /// How its sources did; nil where there is but one.
    public var sources: SourceBook?

    public init() {}

    /// What is still worth knowing when nothing is left to resume.
    var afterCompletion: ResumeData {
        var rest = ResumeData()
        rest.finalURL = finalURL
        rest.contentType = contentType
        rest.acceptsRanges = acceptsRanges
        rest.sources = sources
        return rest
    }

    /// The ranges that may be believed on the running boot.
    public func trusted(bootID current: String?) -> ByteRanges {
        bootID != nil && bootID == current ? written : durable
    }
}

/// A file as the kernel knows it, whatever its name.
public struct FileIdentity: Codable, Sendable, Equatable {
    public let inode: UInt64
    /// When it was made, in nanoseconds since 1970: a file system gives the inode of a deleted file to the next one.
    /// Nil where it is not recorded.
    public let born: Int64?

    public init(inode: UInt64, born: Int64?) {
        self.inode = inode
        self.born = born
    }

    /// The same file, as far as its file system can tell.
    public func isSame(as other: FileIdentity) -> Bool {
        inode == other.inode && (born == nil || other.born == nil || born == other.born)
    }
}

/// What tells one version of a remote file from another (RFC 9110 section 8.8).
public struct Validators: Codable, Sendable, Equatable {
    public var etag: EntityTag?
    /// The field value as the server sent it.
    public var lastModified: String?
    /// `Last-Modified` lies far enough before `Date` to be a strong validator (RFC 9110 section 8.8.2.2). Asked for only
    /// where there is no ETag.
    public var lastModifiedIsStrong = false

    public init(etag: EntityTag? = nil, lastModified: String? = nil, lastModifiedIsStrong: Bool = false) {
        self.etag = etag
        self.lastModified = lastModified
        self.lastModifiedIsStrong = lastModifiedIsStrong
    }

    public var isEmpty: Bool { etag == nil && lastModified == nil }

    /// The value for `If-Range` (RFC 9110 section 13.1.5): a strong ETag, else a strong date, else none.
    public var ifRange: String? {
        if let etag { return etag.isWeak ? nil : etag.fieldValue }
        return lastModifiedIsStrong ? lastModified : nil
    }
}
