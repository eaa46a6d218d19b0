import CSystem
import Glibc
import Synchronization

/// Where the bytes of a download go that is not to become a file (`-o -`), in order and for good. What comes again after
/// a broken connection is compared with what went out, and not written twice. Memory: the last 64 KiB, and a digest.
package final class StreamOutput: SegmentTarget, @unchecked Sendable {
    /// How it is called in messages, and in the place of a path.
    package static let name = "-"
    package static let description = "standard output"
    /// What is kept of the bytes that went out, to be compared.
    package static let tailSize: Int64 = 64 << 10

    private struct State {
        var written: Int64 = 0
        var failure: DownloadError?
        var differs = false
        var isDoubted = false
    }

    private let descriptor: Int32
    private let state = Mutex(State())
    // What follows belongs to the writer's thread, and to the runner while nothing is handed over.
    private var tail: [UInt8] = []
    /// Of all that went out.
    private var digest: OpaquePointer?
    private var algorithm: Checksum.Algorithm?
    /// Of what comes again from the first byte on, until it has come as far as what went out.
    private var proof: (digest: OpaquePointer, position: Int64)?

    package init(descriptor: Int32) { self.descriptor = descriptor }

    deinit {
        dlm_digest_free(digest)
        dlm_digest_free(proof?.digest)
    }

    /// Bytes that went out.
    package var written: Int64 { state.withLock { $0.written } }
    /// Bytes came again, and they are not those that went out.
    package var differs: Bool { state.withLock { $0.differs } }
    package var failure: DownloadError? { state.withLock { $0.failure } }
    package var refusesWrites: Bool { state.withLock { $0.failure != nil || $0.differs } }
    /// Some of what went out may not have belonged to the file: all of it must come again to be believed.
    package var isDoubted: Bool {
        get { state.withLock { $0.isDoubted } }
        set { state.withLock { $0.isDoubted = newValue } }
    }
    /// All that went out can be compared with what comes.
    package var canCompareAll: Bool { digest != nil }

    /// Before the first byte.
    package func beginDigest(_ algorithm: Checksum.Algorithm) throws(DownloadError) {
        guard digest == nil else { return }
        digest = dlm_digest_create(algorithm.rawValue)
        self.algorithm = algorithm
        if digest == nil { throw .unexpected("OpenSSL here has no \(algorithm.rawValue)") }
    }

    /// What all that went out hashes to, after the last byte.
    package var checksum: Checksum? {
        guard let digest, let algorithm, let value = Self.value(digest) else { return nil }
        return Checksum(algorithm: algorithm, bytes: value)
    }

    /// Ends the waiting for bytes that nobody will read (a pipe tells its writer by POLLERR, poll(2)).
    package func noteReader() {
        var output = pollfd(fd: descriptor, events: 0, revents: 0)
        if poll(&output, 1, 0) == 1, output.revents & Int16(POLLERR) != 0 { fail(EPIPE) }
    }

    // MARK: The writer's thread

    package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) {
        if refusesWrites { return }
        let written = written
        let known = Int(max(0, min(Int64(bytes.count), written - offset)))
        guard compare(UnsafeRawBufferPointer(rebasing: bytes[..<known]), at: offset, written) else {
            return state.withLock { $0.differs = true }
        }
        if known == bytes.count { return }
        precondition(offset + Int64(known) == written, "a stream has no gaps")
        send(UnsafeRawBufferPointer(rebasing: bytes[known...]))
    }

    /// False when these are not the bytes that went out.
    private func compare(_ bytes: UnsafeRawBufferPointer, at offset: Int64, _ written: Int64) -> Bool {
        if bytes.isEmpty { return true }
        let tailStart = written - Int64(tail.count)
        let skipped = Int(max(0, min(Int64(bytes.count), tailStart - offset)))
        let from = Int(max(0, offset - tailStart))
        guard bytes[skipped...].elementsEqual(tail[from..<(from + bytes.count - skipped)]) else { return false }
        return prove(bytes, at: offset, written)
    }

    private func prove(_ bytes: UnsafeRawBufferPointer, at offset: Int64, _ written: Int64) -> Bool {
        guard let digest else { return true }
        if offset == 0 {
            dlm_digest_free(proof?.digest)
            proof = algorithm.flatMap { dlm_digest_create($0.rawValue) }.map { ($0, 0) }
        }
        guard let begun = proof, begun.position == offset else { return true }
        guard dlm_digest_update(begun.digest, bytes.baseAddress, bytes.count) == 0 else { return false }
        proof?.position += Int64(bytes.count)
        if begun.position + Int64(bytes.count) < written { return true }
        defer {
            dlm_digest_free(begun.digest)
            proof = nil
        }
        guard let now = Self.value(begun.digest), now == Self.value(digest) else { return false }
        isDoubted = false
        return true
    }

    private func send(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
            if count >= 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            } else if errno == EAGAIN {
                // Somebody else has made it so.
                var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&ready, 1, -1)
            } else if errno != EINTR {
                return fail(errno)
            }
        }
        if let digest, dlm_digest_update(digest, bytes.baseAddress, bytes.count) != 0 {
            return state.withLock { $0.failure = .unexpected("the digest failed") }
        }
        keep(bytes)
        state.withLock { $0.written += Int64(bytes.count) }
    }

    private func keep(_ bytes: UnsafeRawBufferPointer) {
        let size = Int(Self.tailSize)
        tail.removeFirst(min(tail.count, max(0, tail.count + bytes.count - size)))
        // `+=` takes the slice byte by byte: 15 us for 16 KiB, where this takes 1.1 (swiftc -O).
        tail.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes.suffix(size)))
    }

    private func fail(_ code: Int32) {
        let error = DownloadError.file(code, "write", path: Self.description)
        state.withLock { if $0.failure == nil { $0.failure = error } }
    }

    /// It may be asked for again, and go on.
    private static func value(_ digest: OpaquePointer) -> [UInt8]? {
        guard let copy = dlm_digest_copy(digest) else { return nil }
        defer { dlm_digest_free(copy) }
        var out = [UInt8](repeating: 0, count: 64)
        let count = dlm_digest_finish(copy, &out)
        return count > 0 ? Array(out.prefix(count)) : nil
    }
}
