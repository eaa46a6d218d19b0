import CSystem
import Foundation

/// The hash of a finished file, to verify the file after the download.
package struct FileHash: Sendable, Equatable {
    /// The number of bytes hashed.
    package let size: Int64
    /// The digest in lower-case hexadecimal.
    package let digest: String

    private static let step = 1 << 20

    /// Hashes a file. Blocks the calling thread.
    /// - Parameter expected: the size that the file must have, in bytes; nil for any size.
    /// - Throws: ``DownloadError/fileFailed(_:path:)`` if the file is missing, unreadable or not regular. Opening a
    ///   pipe or a device never blocks.
    package static func of(
        _ path: String, _ algorithm: Checksum.Algorithm, size expected: Int64? = nil
    ) throws(DownloadError) -> FileHash {
        try make(path, algorithm, size: expected, unless: { false })!
    }

    private static func make(
        _ path: String, _ algorithm: Checksum.Algorithm, size expected: Int64?, unless isUnwanted: () -> Bool
    ) throws(DownloadError) -> FileHash? {
        let (descriptor, length) = try open(path)
        defer { close(descriptor) }
        // A wrong size is reported before the file is read, because reading can take long.
        try require(length, expected)
        posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL)
        guard let context = dlm_digest_create(algorithm.rawValue) else {
            throw .unexpected("the OpenSSL library has no \(algorithm.rawValue)")
        }
        defer { dlm_digest_free(context) }
        guard let size = try feed(descriptor, path, to: context, unless: isUnwanted) else { return nil }
        try require(size, expected)
        var out = [UInt8](repeating: 0, count: 64)
        let count = dlm_digest_finish(context, &out)
        guard let checksum = Checksum(algorithm: algorithm, bytes: out.prefix(count)) else {
            throw .unexpected("the digest failed")
        }
        return FileHash(size: size, digest: checksum.digest)
    }

    /// Hashes a file without blocking the caller.
    package static func of(
        _ path: String, _ algorithm: Checksum.Algorithm, size: Int64? = nil, on queue: DispatchQueue
    ) async throws(DownloadError) -> FileHash {
        try await of(path, algorithm, size: size, on: queue, unless: { false })!
    }

    /// Hashes a file, and returns nil if the result is no longer wanted.
    /// - Parameter isUnwanted: called for each MiB; returns whether the result is no longer wanted.
    package static func of(
        _ path: String, _ algorithm: Checksum.Algorithm, size: Int64? = nil, on queue: DispatchQueue,
        unless isUnwanted: @escaping @Sendable () -> Bool
    ) async throws(DownloadError) -> FileHash? {
        try await queue.run { () throws(DownloadError) in try make(path, algorithm, size: size, unless: isUnwanted) }
    }

    /// Returns the size of a regular file in bytes.
    package static func size(of path: String) throws(DownloadError) -> Int64 {
        let (descriptor, size) = try open(path)
        close(descriptor)
        return size
    }

    private static func open(_ path: String) throws(DownloadError) -> (descriptor: Int32, size: Int64) {
        // O_NONBLOCK: opening a pipe without a writer would block.
        let descriptor = Glibc.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .givenFile(errno, "open", path) }
        guard let status = FileStatus.of(descriptor: descriptor), status.isRegular else {
            close(descriptor)
            throw .fileFailed(.notRegular, path: path)
        }
        return (descriptor, status.size)
    }

    private static func require(_ size: Int64, _ expected: Int64?) throws(DownloadError) {
        if let expected, size != expected { throw .verificationFailed(.size(expected: expected, actual: size)) }
    }

    private static func feed(
        _ descriptor: Int32, _ path: String, to context: OpaquePointer, unless isUnwanted: () -> Bool
    ) throws(DownloadError) -> Int64? {
        let buffer = UnsafeMutableRawPointer.allocate(byteCount: step, alignment: 4096)
        defer { buffer.deallocate() }
        var size: Int64 = 0
        while !isUnwanted() {
            let count = read(descriptor, buffer, step)
            if count == 0 { return size }
            if count < 0 {
                if errno == EINTR { continue }
                throw .givenFile(errno, "read", path)
            }
            if dlm_digest_update(context, buffer, count) != 0 { throw .unexpected("the digest failed") }
            size += Int64(count)
        }
        return nil
    }
}
