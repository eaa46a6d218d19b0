import DownloadCore
import Foundation

/// The hash of a finished file, to verify the file after the download.
package struct FileHash: Sendable, Equatable {
    /// The number of bytes hashed.
    package let size: Int64
    /// The digest in lower-case hexadecimal.
    package let digest: String

    private static let step = 1 << 20

    /// Hashes a file without blocking the caller.
    /// - Parameter size: The size that the file must have, in bytes; nil for any size.
    /// - Throws: ``DownloadError/fileFailed(_:path:)`` if the file is missing, unreadable or not regular. Opening a
    ///   pipe or a device never blocks.
    package static func of(
        _ path: String, _ algorithm: Checksum.Algorithm, size: Int64? = nil, on queue: DispatchQueue
    ) async throws(DownloadError) -> FileHash {
        try await of(path, algorithm, size: size, on: queue, unless: { false })!
    }

    /// Hashes a file, and returns nil if the result is no longer wanted.
    /// - Parameter isUnwanted: called for each MiB; returns whether the result is no longer wanted.
    package static func of(
        _ path: String, _ algorithm: Checksum.Algorithm, size expected: Int64? = nil, on queue: DispatchQueue,
        unless isUnwanted: @escaping @Sendable () -> Bool
    ) async throws(DownloadError) -> FileHash? {
        try await queue.run { () throws(DownloadError) in
            let (descriptor, status) = try FileStatus.openRegular(path)
            defer { close(descriptor) }
            // A wrong size is reported before the file is read, because reading can take long.
            try require(status.size, expected)
            posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL)
            let digest = try RunningDigest(algorithm)
            guard let size = try feed(descriptor, path, to: digest, unless: isUnwanted) else { return nil }
            try require(size, expected)
            return FileHash(size: size, digest: try digest.checksum().digest)
        }
    }

    /// Returns the size of a regular file in bytes.
    package static func size(of path: String) throws(DownloadError) -> Int64 {
        let (descriptor, status) = try FileStatus.openRegular(path)
        close(descriptor)
        return status.size
    }

    private static func require(_ size: Int64, _ expected: Int64?) throws(DownloadError) {
        if let expected, size != expected { throw .verificationFailed(.size(expected: expected, actual: size)) }
    }

    private static func feed(
        _ descriptor: Int32, _ path: String, to digest: RunningDigest, unless isUnwanted: () -> Bool
    ) throws(DownloadError) -> Int64? {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: step, alignment: 4096)
        defer { buffer.deallocate() }
        var size: Int64 = 0
        while !isUnwanted() {
            guard let count = FileBytes.read(descriptor, into: buffer, at: size) else {
                throw .givenFile(errno, "read", path)
            }
            if count == 0 { return size }
            try digest.add(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            size += Int64(count)
        }
        return nil
    }
}
