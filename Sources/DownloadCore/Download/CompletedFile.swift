import Foundation

/// The finished file, as it was when its download completed.
package struct CompletedFile: Codable, Sendable, Equatable {
    package var path: String
    package var bytes: Int64
    /// It went to a stream, and is no file.
    package var isStream: Bool { path == StreamOutput.name }
    package var identity: FileIdentity
    /// Nanoseconds since 1970.
    package var modified: Int64
    package var validators: Validators
    /// What was verified: the checksum asked for, or else the server's digest.
    package var checksum: Checksum?
    /// Who said so; in old records nobody else than the user.
    package var verifiedBy: ChecksumSource?
    /// What was verified, and who said what it must be.
    package var verified: VerifiedChecksum? { checksum.map { VerifiedChecksum($0, by: verifiedBy ?? .user) } }
    /// What it was found not to hash to.
    package var mismatched: Checksum?
    /// The remote said that this very file is still current: nothing was fetched.
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

    /// A file that is here already and is left as it is.
    init(_ path: String, _ existing: FileStatus.Info, _ validators: Validators = Validators()) {
        self.init(
            path: path, bytes: existing.size, identity: existing.identity, modified: existing.modified,
            validators: validators)
        wasCurrent = true
    }
}
