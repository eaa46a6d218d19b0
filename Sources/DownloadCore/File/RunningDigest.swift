import CSystem

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
