import Foundation

/// The finished file, as it was when its download completed.
package struct CompletedFile: Codable, Sendable, Equatable {
    package var path: String
    package var bytes: Int64
    /// The path in the record of a download that went to a stream.
    package static let streamPath = "-"
    /// Whether the download went to a stream, so that there is no file.
    package var isStream: Bool { path == Self.streamPath }
    package var identity: FileIdentity
    /// The modification time, in nanoseconds since 1970.
    package var modified: Int64
    package var validators: Validators
    /// The verified checksum: the checksum of the request, or otherwise the server's digest.
    package var checksum: Checksum?
    /// The source of the checksum. Nil in old records, in which the source is always the user.
    package var verifiedBy: ChecksumSource?
    package var verified: VerifiedChecksum? { checksum.map { VerifiedChecksum($0, by: verifiedBy ?? .user) } }
    /// A checksum that was compared with the file and did not match.
    package var mismatched: Checksum?
    /// Whether the server said that this file is still current, so that nothing was fetched.
    package var wasCurrent = false

    package init(
        path: String, bytes: Int64, identity: FileIdentity, modified: Int64, validators: Validators,
        checksum: Checksum? = nil, verifiedBy: ChecksumSource? = nil
    ) {
        self.path = path
        self.bytes = bytes
        self.identity = identity
        self.modified = modified
        self.validators = validators
        self.checksum = checksum
        self.verifiedBy = verifiedBy
    }
}
