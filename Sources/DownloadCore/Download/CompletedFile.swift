import Foundation

/// The finished file, as it was when its download completed.
public struct CompletedFile: Codable, Sendable, Equatable {
    public var path: String
    public var bytes: Int64
    public var identity: FileIdentity
    /// Nanoseconds since 1970.
    public var modified: Int64
    public var validators: Validators
    /// What was verified, when a checksum was asked for.
    public var checksum: Checksum?
    /// The remote said that this very file is still current: nothing was fetched.
    public var wasCurrent = false

    public init(
        path: String, bytes: Int64, identity: FileIdentity, modified: Int64, validators: Validators,
        checksum: Checksum? = nil
    ) {
        self.path = path
        self.bytes = bytes
        self.identity = identity
        self.modified = modified
        self.validators = validators
        self.checksum = checksum
    }
}
