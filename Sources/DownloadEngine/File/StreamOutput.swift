import DownloadCore
import DownloadSystem
import Glibc
import Synchronization

/// The output of a download that is written to a stream (`-o -`) instead of a file. Bytes are written in order and
/// cannot be taken back. Bytes that are fetched again after a broken connection are compared with the written bytes,
/// and not written twice. For the comparison, the last 64 KiB and, if needed, a digest are kept in memory.
package final class StreamOutput: SegmentTarget, @unchecked Sendable {
    package static let description = "standard output"
    /// The maximum number of last written bytes that are kept for comparison.
    package static let tailSize: Int64 = 64 << 10

    private struct State {
        var written: Int64 = 0
        var failure: DownloadError?
        var differs = false
        var isDoubted = false
        var pump: StreamPump?
        var isInOrder = false
    }

    private let descriptor: Int32
    private let spool: (size: Int64, folders: [String])
    private let state = Mutex(State())
    // The properties below are used on the thread of the write queue, or on that of the pump. The attempt's task may
    // use them while no bytes are on the way.
    private var tail: [UInt8] = []
    private var digest: RunningDigest?
    /// The digest of the bytes that are fetched again from the first byte on. Nil after these bytes have reached the
    /// end of the written bytes.
    private var proof: (digest: RunningDigest, position: Int64)?

    /// - Parameters:
    ///   - spool: The size in bytes of the spool for several connections.
    ///   - folders: The folders that may have the spool.
    package init(descriptor: Int32, spool: Int64 = StreamOutput.standardSpool, folders: [String] = []) {
        self.descriptor = descriptor
        self.spool = (spool, folders)
    }

    package static let standardSpool: Int64 = 256 << 20
    /// The least size of a spool in bytes. The ranges that connections fetch would be too small with less.
    package static let leastSpool: Int64 = 8 << 20

    /// The pump of the spool; nil if the bytes go directly to the stream. It outlives the attempt, so that the next
    /// attempt continues with the bytes in the spool.
    var pump: StreamPump? { state.withLock { $0.pump } }

    /// Makes the spool for a file of this size. Returns nil if it is not possible, or if the parts that the server
    /// sends proved to be unusable.
    func openSpool(for total: Int64) -> StreamPump? {
        if state.withLock({ $0.isInOrder }) { return nil }
        let size = max(
            Self.leastSpool, total < spool.size ? min(spool.size, total + PartialFile.spoolMargin) : spool.size)
        let made = PartialFile.spool(of: size, in: spool.folders).map { StreamPump(from: $0, to: self) }
        state.withLock { $0.pump = made }
        return made
    }

    /// Ends the use of the spool: from now on one connection brings all bytes in order.
    func closeSpool() {
        state.withLock { state in
            state.pump = nil
            state.isInOrder = true
        }
    }

    package var written: Int64 { state.withLock { $0.written } }
    /// Whether bytes that were fetched again differ from the written bytes.
    package var differs: Bool { state.withLock { $0.differs } }
    package var failure: DownloadError? { state.withLock { $0.failure } }
    package var refusesWrites: Bool { state.withLock { $0.failure != nil || $0.differs } }
    /// Whether some of the written bytes may not belong to the file. If so, all written bytes must be fetched again and
    /// compared.
    package var isDoubted: Bool {
        get { state.withLock { $0.isDoubted } }
        set { state.withLock { $0.isDoubted = newValue } }
    }
    /// Whether all written bytes can be compared with bytes that are fetched again.
    package var canCompareAll: Bool { digest != nil }

    /// Starts to hash the bytes as they are written. Called before the first byte is written.
    package func beginDigest(_ algorithm: Checksum.Algorithm) throws(DownloadError) {
        if digest == nil { digest = try RunningDigest(algorithm) }
    }

    /// The checksum of all written bytes. Read after the last byte.
    package var checksum: Checksum? { get throws(DownloadError) { try digest?.checksum() } }

    /// Makes the output fail if its reader is gone, so that no more bytes are fetched for it. A pipe reports this to
    /// its writer by POLLERR (poll(2)).
    package func noteReader() {
        var output = pollfd(fd: descriptor, events: 0, revents: 0)
        if poll(&output, 1, 0) == 1, output.revents & Int16(POLLERR) != 0 { fail(Self.failure(EPIPE)) }
    }

    // MARK: The thread of the write queue

    package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) {
        if refusesWrites { return }
        let written = written
        let known = Int(max(0, min(Int64(bytes.count), written - offset)))
        do throws(DownloadError) {
            guard try isSame(UnsafeRawBufferPointer(rebasing: bytes[..<known]), at: offset, written) else {
                return state.withLock { $0.differs = true }
            }
            if known == bytes.count { return }
            precondition(offset + Int64(known) == written, "a stream has no gaps")
            try send(UnsafeRawBufferPointer(rebasing: bytes[known...]))
        } catch {
            fail(error)
        }
    }

    private func isSame(
        _ bytes: UnsafeRawBufferPointer, at offset: Int64, _ written: Int64
    ) throws(DownloadError) -> Bool {
        if bytes.isEmpty { return true }
        let tailStart = written - Int64(tail.count)
        let skipped = Int(max(0, min(Int64(bytes.count), tailStart - offset)))
        let from = Int(max(0, offset - tailStart))
        guard bytes[skipped...].elementsEqual(tail[from..<(from + bytes.count - skipped)]) else { return false }
        guard let digest else { return true }
        if offset == 0 { proof = (try RunningDigest(digest.algorithm), 0) }
        guard let begun = proof, begun.position == offset else { return true }
        try begun.digest.add(bytes)
        proof?.position += Int64(bytes.count)
        if begun.position + Int64(bytes.count) < written { return true }
        proof = nil
        guard try begun.digest.checksum() == digest.checksum() else { return false }
        isDoubted = false
        return true
    }

    private func send(_ bytes: UnsafeRawBufferPointer) throws(DownloadError) {
        guard FileBytes.write(bytes, to: descriptor) else { throw Self.failure(errno) }
        try digest?.add(bytes)
        let size = Int(Self.tailSize)
        tail.removeFirst(min(tail.count, max(0, tail.count + bytes.count - size)))
        // `+=` appends the slice byte by byte, and takes 14 times as long.
        tail.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes.suffix(size)))
        state.withLock { $0.written += Int64(bytes.count) }
    }

    private static func failure(_ code: Int32) -> DownloadError { .file(code, "write", path: description) }

    private func fail(_ error: DownloadError) { state.withLock { if $0.failure == nil { $0.failure = error } } }
}
