/// A good signature, as it is recorded for the file.
package struct FileSignature: Codable, Sendable, Equatable {
    /// The key as the request gave it.
    package let asked: String
    /// The fingerprint of the OpenPGP key, or the number of the other key, in hexadecimal.
    package let key: String
    /// The SHA-256 digest of the content of ``asked``. If the content has changed, the signature does not count.
    package let keyDigest: String
    /// The URL of the signature or of the signed list.
    package let document: String
    /// The digest of the file in the signed list. Nil if the file itself is signed.
    package var listed: Checksum?

    package init(asked: String, key: String, keyDigest: String, document: String, listed: Checksum? = nil) {
        (self.asked, self.key, self.keyDigest) = (asked, key, keyDigest)
        (self.document, self.listed) = (document, listed)
    }
}
