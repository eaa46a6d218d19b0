import Foundation

/// The finished file, as it was when its download completed.
public struct CompletedFile: Codable, Sendable, Equatable {
    public var path: String
    public var bytes: Int64
    /// It went to a stream, and is no file.
    public var isStream: Bool { path == StreamOutput.name }
    public var identity: FileIdentity
    /// Nanoseconds since 1970.
    public var modified: Int64
    public var validators: Validators
    /// What was verified: the checksum asked for, or else the server's digest.
    public var checksum: Checksum?
    /// Who said so; in old records nobody else than the user.
    public var verifiedBy: ChecksumSource?
    /// What was verified, and who said what it must be.
    public var verified: VerifiedChecksum? { checksum.map { VerifiedChecksum($0, by: verifiedBy ?? .user) } }
    /// What it was found not to hash to.
    public var mismatched: Checksum?
    /// The remote said that this very file is still current: nothing was fetched.
    public var wasCurrent = false

    public init(
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
