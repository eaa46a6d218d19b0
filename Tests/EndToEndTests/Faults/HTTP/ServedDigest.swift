import DownloadTestSupport
import Foundation

/// The field in which a server sends the digest of its file.
enum ServedDigest: String, CaseIterable, Sendable, CustomStringConvertible {
    case repr256 = "Repr-Digest: sha-256"
    case repr512 = "Repr-Digest: sha-512"
    case reprMany = "Repr-Digest: several"
    case old256 = "Digest: SHA-256"
    case oldMD5 = "Digest: MD5"

    var description: String { rawValue }

    func field(_ content: Content) -> (name: String, value: String) {
        switch self {
        case .repr256: ("Repr-Digest", "sha-256=:\(base64(content, "sha256")):")
        case .repr512: ("Repr-Digest", "sha-512=:\(base64(content, "sha512")):")
        case .reprMany:
            (
                "Repr-Digest",
                "crc32c=:AAAAAA==:, md5=:\(base64(content, "md5")):, sha-256=:\(base64(content, "sha256")):"
            )
        case .old256: ("Digest", "SHA-256=\(base64(content, "sha256")),UNIXsum=30637")
        case .oldMD5: ("Digest", "md5=\(base64(content, "md5"))")
        }
    }

    private func base64(_ content: Content, _ algorithm: String) -> String {
        content.base64Digest(algorithm)
    }
}
