import CSystem
import Foundation
import Synchronization

/// Hashes a partial file from its start as it grows, a little behind the writes, out of the page cache.
package final class FileDigest: @unchecked Sendable {
    private let file: PartialFile
    /// Its own, in order.
    private let queue: DispatchQueue
    private let checksum: Checksum
    private let isScheduled = Atomic(false)
    private let isAbandoned = Atomic(false)
    // What follows belongs to the queue.
    private let context: OpaquePointer
    private var position: Int64 = 0
    private var failure: DownloadError?

    /// Stays in a core's cache, so that reading costs little beside hashing; memory made anew for each step cost as much.
    private static let bufferSize = 256 << 10

    /// Nil when this OpenSSL has no such digest.
    package init?(of file: PartialFile, checksum: Checksum, queue: DispatchQueue) {
        guard let context = dlm_digest_create(checksum.algorithm.rawValue) else { return nil }
        self.context = context
        self.file = file
        self.checksum = checksum
        self.queue = DispatchQueue(label: "dlm.digest.file", target: queue)
    }

    deinit { dlm_digest_free(context) }

    /// Nobody wants the result any more.
    package func abandon() { isAbandoned.store(true, ordering: .relaxed) }

    /// There may be more to hash.
    package func advance() {
        guard !isScheduled.exchange(true, ordering: .acquiringAndReleasing) else { return }
        queue.async { [self] in
            isScheduled.store(false, ordering: .releasing)
            hash(to: file.written.prefix) { false }
        }
    }

    /// Hashes the rest up to `total` and compares; false when `isUnwanted` ended that early.
    package func verify(
        total: Int64, unless isUnwanted: @escaping @Sendable () -> Bool = { false }
    ) async throws(DownloadError) -> Bool {
        let result: Result<Bool, DownloadError> = await withCheckedContinuation { continuation in
            queue.async { [self] in
                hash(to: total, unless: isUnwanted)
                continuation.resume(returning: conclusion(total))
            }
        }
        return try result.get()
    }

    private func hash(to end: Int64, unless isUnwanted: () -> Bool) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.bufferSize, alignment: 4096)
        defer { buffer.deallocate() }
        while position < end, failure == nil, !isAbandoned.load(ordering: .relaxed), !isUnwanted() {
            do throws(DownloadError) {
                let bytes = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(Int(clamping: end - position)))
                try file.read(into: bytes, at: position)
                if dlm_digest_update(context, bytes.baseAddress, bytes.count) != 0 {
                    throw .unexpected("the digest failed")
                }
                position += Int64(bytes.count)
            } catch {
                failure = error
            }
        }
    }

    private func conclusion(_ total: Int64) -> Result<Bool, DownloadError> {
        if let failure { return .failure(failure) }
        if position < total { return .success(false) }
        var out = [UInt8](repeating: 0, count: 64)
        let count = dlm_digest_finish(context, &out)
        let actual = out.prefix(count).map { String(format: "%02x", $0) }.joined()
        if actual == checksum.digest { return .success(true) }
        return .failure(.verificationFailed(.checksum(expected: checksum, actual: actual)))
    }
}
