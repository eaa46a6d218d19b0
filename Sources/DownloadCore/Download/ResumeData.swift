/// Everything that is needed to continue a partial file, and to detect that the file no longer belongs to the remote
/// file.
package struct ResumeData: Codable, Sendable, Equatable {
    package var validators = Validators()
    /// The size of the whole file in bytes, once it is known.
    package var total: Int64?
    /// The URL to which the redirects led.
    package var finalURL: SourceURL?
    /// The media type of the first answer.
    package var contentType: String?
    /// The content coding of the bytes on disk (RFC 9110 section 8.4), if the server used one that dlm had not
    /// requested. Parts with another coding cannot be joined to these bytes.
    package var contentEncoding: String?
    /// Whether the server answered a range request with 206.
    package var acceptsRanges = false
    /// The ranges whose `pwrite` has returned. They survive the death of the process.
    package var written = ByteRanges()
    /// The ranges whose `fdatasync` has returned. They survive a loss of power.
    package var durable = ByteRanges()
    /// The identity of the partial file.
    package var file: FileIdentity?
    /// The modification time of the partial file, in nanoseconds since 1970. It is recorded at the end of an attempt.
    /// If the file has another time at the next attempt, another program has changed it.
    package var modified: Int64?
    /// The value of ``modified`` for a file that another program wrote to during an attempt. No modification time is
    /// equal to it.
    package static let altered: Int64 = .min
    /// The device number of the file's file system, which is valid during this boot.
    package var device: UInt64?
    /// The boot during which the ranges in ``written`` were written. After a reboot, only the ranges in ``durable`` are
    /// trusted.
    package var bootID: String?
    /// The checksum that did not match after all bytes had come. Another attempt with the same checksum starts over.
    package var mismatched: Checksum?
    /// The digest that the server gave for this version of the file.
    package var digest: Checksum?
    /// The result of the search for a digest beside this version of the file.
    package var proof: ProofPlan.Outcome?
    /// The good signature of this version of the file, or of a list with its digest.
    package var signature: FileSignature?
    /// The checksum that was compared with the complete file and matched.
    package var verified: VerifiedChecksum?
    /// The server's name for the file, if its checksum has to be found in a list.
    package var servedName: String?
    /// The URL from which the bytes on disk came, after the URL of the download was changed; nil once the new URL is
    /// proved to have the same file. While it is set, different bytes are an error, and the download does not start
    /// over. If the bytes are from a file that another program began, it is the download's own URL.
    package var movedFrom: SourceURL?
    /// The history of the download's sources; nil if there is only one source.
    package var sources: SourceBook?

    package init() {}

    /// The facts that are kept after the download has completed.
    package var afterCompletion: ResumeData {
        var rest = ResumeData()
        rest.finalURL = finalURL
        rest.contentType = contentType
        rest.acceptsRanges = acceptsRanges
        rest.proof = proof
        rest.signature = signature
        rest.sources = sources
        return rest
    }

    /// Returns the ranges that are trusted during the current boot.
    package func trusted(bootID current: String?) -> ByteRanges {
        bootID != nil && bootID == current ? written : durable
    }
}

/// The identity of a file on its file system. It does not depend on the name of the file.
package struct FileIdentity: Codable, Sendable, Equatable {
    package let inode: UInt64
    /// The time of the file's creation, in nanoseconds since 1970. It is needed because a file system reuses the inode
    /// of a deleted file. Nil if the file system does not record it.
    package let born: Int64?

    package init(inode: UInt64, born: Int64?) {
        self.inode = inode
        self.born = born
    }

    /// Returns whether both are the same file, as far as the file system can tell.
    package func isSame(as other: FileIdentity) -> Bool {
        inode == other.inode && (born == nil || other.born == nil || born == other.born)
    }
}

/// The validators, which distinguish versions of a remote file (RFC 9110 section 8.8).
package struct Validators: Codable, Sendable, Equatable {
    package var etag: EntityTag?
    /// The field value as the server sent it.
    package var lastModified: String?
    /// Whether `Last-Modified` is so much older than `Date` that it is a strong validator (RFC 9110 section 8.8.2.2).
    /// Used only if there is no ETag.
    package var lastModifiedIsStrong = false

    package init(etag: EntityTag? = nil, lastModified: String? = nil, lastModifiedIsStrong: Bool = false) {
        self.etag = etag
        self.lastModified = lastModified
        self.lastModifiedIsStrong = lastModifiedIsStrong
    }

    package var isEmpty: Bool { etag == nil && lastModified == nil }

    /// The value for `If-Range` (RFC 9110 section 13.1.5): the ETag if it is strong, or, without an ETag, the date if
    /// it is strong. Nil otherwise.
    package var ifRange: String? {
        if let etag { return etag.isWeak ? nil : etag.fieldValue }
        return lastModifiedIsStrong ? lastModified : nil
    }
}
