import CSystem
import DownloadCore

/// The digest or CRC of bytes that come one after the other. Only one thread may use it at a time.
package final class RunningDigest {
    package let algorithm: Checksum.Algorithm
    private let context: OpaquePointer

    /// - Throws: ``DownloadError/unexpected(_:)`` if the installed OpenSSL does not have the algorithm.
    package init(_ algorithm: Checksum.Algorithm) throws(DownloadError) {
        guard let context = dlm_digest_create(algorithm.rawValue) else {
            throw .unexpected("the OpenSSL library has no \(algorithm.rawValue)")
        }
        self.algorithm = algorithm
        self.context = context
    }

    deinit { dlm_digest_free(context) }

    package func add(_ bytes: UnsafeRawBufferPointer) throws(DownloadError) {
        if dlm_digest_update(context, bytes.baseAddress, bytes.count) != 0 { throw .unexpected("the digest failed") }
    }

    /// Returns the checksum of all bytes so far. A copy of the digest is finished, so that more bytes can follow.
    package func checksum() throws(DownloadError) -> Checksum {
        let copy = dlm_digest_copy(context)
        defer { dlm_digest_free(copy) }
        var out = [UInt8](repeating: 0, count: 64)
        let count = copy.map { dlm_digest_finish($0, &out) } ?? 0
        guard let checksum = Checksum(algorithm: algorithm, bytes: out.prefix(count)) else {
            throw .unexpected("the digest failed")
        }
        return checksum
    }
}

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
