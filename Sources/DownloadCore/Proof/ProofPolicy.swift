/// The digests that a download looks for if its request has no checksum, and whether one of them must prove the file.
public enum ProofPolicy: String, Codable, Sendable, CaseIterable {
    /// The server's digests are not used.
    case off
    /// The digests that come with the answer are used. No further request is made.
    case headers
    /// If the answer to a request without secrets has no digest, and the file has at least 8 MiB, a digest is also
    /// looked up beside the file, with at most two small requests. The files of a session share the answers.
    case auto
    /// As `auto`, for files of any size and in all usual places. Without a digest, the file does not get its name. A
    /// CRC does not suffice.
    case require
}
