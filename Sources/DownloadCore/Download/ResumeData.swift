/// Everything needed to go on with a partial file, and to refuse when it no longer belongs to the remote.
package struct ResumeData: Codable, Sendable, Equatable {
    package var validators = Validators()
    /// The size of the whole representation, once known.
    package var total: Int64?
    /// Where the redirects led.
    package var finalURL: SourceURL?
    /// The media type the download began with.
    package var contentType: String?
    /// The content coding of the bytes that are here (RFC 9110 section 8.4), which nobody asked for: parts of another
    /// coding do not fit.
    package var contentEncoding: String?
    /// The server answered a range request with 206.
    package var acceptsRanges = false
    /// `pwrite` has returned: safe against the death of the process.
    package var written = ByteRanges()
    /// `fdatasync` has returned: safe against power loss.
    package var durable = ByteRanges()
    /// The partial file.
    package var file: FileIdentity?
    /// When the partial file last changed, in nanoseconds since 1970, if its last attempt ended in order: later changes
    /// are not ours.
    package var modified: Int64?
    /// `modified` of a file that another program wrote to during an attempt: no time of change will do.
    static let altered: Int64 = .min
    /// The file system it lies on, as the kernel numbers them on this boot.
    package var device: UInt64?
    /// The boot that `written` belongs to: after another one only `durable` counts.
    package var bootID: String?
    /// All bytes came, and this checksum did not match: another try with the same one begins anew.
    package var mismatched: Checksum?
    /// What the server says that this version hashes to.
    package var digest: Checksum?
    /// All bytes came, and hash to this.
    package var verified: VerifiedChecksum?
    /// The name that the server gave it, where its checksum is to be found in a list.
    package var servedName: String?
    /// Where the bytes that are here came from, until those behind the new address have proved to be the same file: a
    /// difference is an error then, and no reason to start over.
    package var movedFrom: SourceURL?
    /// How its sources did; nil where there is but one.
    package var sources: SourceBook?

    package init() {}

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
    package func trusted(bootID current: String?) -> ByteRanges {
        bootID != nil && bootID == current ? written : durable
    }
}

/// A file as the kernel knows it, whatever its name.
package struct FileIdentity: Codable, Sendable, Equatable {
    package let inode: UInt64
    /// When it was made, in nanoseconds since 1970: a file system gives the inode of a deleted file to the next one.
    /// Nil where it is not recorded.
    package let born: Int64?

    package init(inode: UInt64, born: Int64?) {
        self.inode = inode
        self.born = born
    }

    /// The same file, as far as its file system can tell.
    package func isSame(as other: FileIdentity) -> Bool {
        inode == other.inode && (born == nil || other.born == nil || born == other.born)
    }
}

/// What tells one version of a remote file from another (RFC 9110 section 8.8).
package struct Validators: Codable, Sendable, Equatable {
    package var etag: EntityTag?
    /// The field value as the server sent it.
    package var lastModified: String?
    /// `Last-Modified` lies far enough before `Date` to be a strong validator (RFC 9110 section 8.8.2.2). Asked for only
    /// where there is no ETag.
    package var lastModifiedIsStrong = false

    package init(etag: EntityTag? = nil, lastModified: String? = nil, lastModifiedIsStrong: Bool = false) {
        self.etag = etag
        self.lastModified = lastModified
        self.lastModifiedIsStrong = lastModifiedIsStrong
    }

    package var isEmpty: Bool { etag == nil && lastModified == nil }

    /// The value for `If-Range` (RFC 9110 section 13.1.5): a strong ETag, else a strong date, else none.
    package var ifRange: String? {
        if let etag { return etag.isWeak ? nil : etag.fieldValue }
        return lastModifiedIsStrong ? lastModified : nil
    }
}
