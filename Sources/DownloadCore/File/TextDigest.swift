import CSystem

/// The SHA-256 digest of a short text, such as a URL, or of a key.
package struct TextDigest: Sendable, Equatable {
    package let bytes: [UInt8]

    /// - Throws: ``DownloadError/unexpected(_:)`` if OpenSSL has no SHA-256.
    package init(_ text: String) throws(DownloadError) { try self.init(Array(text.utf8)) }

    package init(_ content: [UInt8]) throws(DownloadError) {
        guard let context = dlm_digest_create(Checksum.Algorithm.sha256.rawValue) else {
            throw .unexpected("the OpenSSL library has no sha256")
        }
        defer { dlm_digest_free(context) }
        let status = dlm_digest_update(context, content, content.count)
        var out = [UInt8](repeating: 0, count: 64)
        let count = Int(dlm_digest_finish(context, &out))
        guard status == 0, count == 32 else { throw .unexpected("the digest failed") }
        bytes = Array(out.prefix(count))
    }

    /// The first 8 bytes as a number, the most significant byte first.
    package var number: UInt64 { bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } }

    /// All 32 bytes in lower-case hexadecimal digits.
    package var hexadecimal: String { bytes.hexadecimal }
}
