import DownloadCore
import DownloadSystem
import Foundation
import Synchronization

/// The digest of a partial file. It is computed from the start of the file while the file grows, shortly after the
/// writes. The bytes are read from the page cache.
package final class FileDigest: @unchecked Sendable {
    private let file: PartialFile
    /// The serial queue of this digest.
    private let queue: DispatchQueue
    private let checksum: Checksum
    private let isScheduled = Atomic(false)
    private let isAbandoned = Atomic(false)
    // The properties below are used on `queue` only.
    private let digest: RunningDigest
    private var position: Int64 = 0
    private var failure: DownloadError?

    /// - Throws: ``DownloadError/unexpected(_:)`` if the installed OpenSSL does not have the digest.
    package init(of file: PartialFile, checksum: Checksum, queue: DispatchQueue) throws(DownloadError) {
        digest = try RunningDigest(checksum.algorithm)
        self.file = file
        self.checksum = checksum
        self.queue = DispatchQueue(label: "dlm.digest.file", target: queue)
    }

    /// Stops hashing, because the result is no longer needed.
    package func abandon() { isAbandoned.store(true, ordering: .relaxed) }

    /// Hashes the bytes that were written since the last call, on `queue`, up to the first gap.
    package func advance() {
        guard !isScheduled.exchange(true, ordering: .acquiringAndReleasing) else { return }
        queue.async { [self] in
            isScheduled.store(false, ordering: .releasing)
            hash(to: file.written.prefix) { false }
        }
    }

    /// Hashes the remaining bytes up to `total` and throws if the digest does not match. Returns false if `isUnwanted`
    /// ended the hashing early.
    package func verify(
        total: Int64, unless isUnwanted: @escaping @Sendable () -> Bool = { false }
    ) async throws(DownloadError) -> Bool {
        try await queue.run { [self] () throws(DownloadError) in
            hash(to: total, unless: isUnwanted)
            if let failure { throw failure }
            if position < total { return false }
            let actual = try digest.checksum().digest
            if actual == checksum.digest { return true }
            throw .verificationFailed(.checksum(expected: checksum, actual: actual))
        }
    }

    private func hash(to end: Int64, unless isUnwanted: () -> Bool) {
        guard position < end, failure == nil else { return }
        do throws(DownloadError) {
            position = try digest.add(position..<end, of: file.descriptor, file.path) {
                isAbandoned.load(ordering: .relaxed) || isUnwanted()
            }
        } catch {
            failure = error
        }
    }
}

extension RunningDigest {
    /// The size of the read buffer in bytes. The buffer fits in a core's cache, so that reading costs little compared
    /// with hashing. It is reused for all reads of one call, because allocating new memory for each read cost as much
    /// as the hashing.
    private static let bufferSize = 256 << 10

    /// Adds a range of an open file.
    /// - Parameter isUnwanted: Called before each read. Once it returns true, no more bytes are added.
    /// - Returns: The offset after the last byte that was added.
    func add(
        _ range: Range<Int64>, of descriptor: Int32, _ path: String, unless isUnwanted: () -> Bool
    ) throws(DownloadError) -> Int64 {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.bufferSize, alignment: 4096)
        defer { buffer.deallocate() }
        var position = range.lowerBound
        while position < range.upperBound, !isUnwanted() {
            let wanted = Int(clamping: range.upperBound - position)
            let bytes = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(wanted))
            let count = FileBytes.read(descriptor, into: bytes, at: position)
            guard count == bytes.count else { throw .file(count == nil ? errno : EIO, "read", path: path) }
            try add(UnsafeRawBufferPointer(bytes))
            position += Int64(bytes.count)
        }
        return position
    }
}
