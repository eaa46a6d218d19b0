import CSystem
import Foundation
import Synchronization

/// Hashes the pieces of a partial file as they become whole, a little behind the writes and off their thread.
final class PieceVerifier: Sendable {
    private let file: PartialFile
    private let pieces: PieceHashes
    private let total: Int64
    private let queue: DispatchQueue
    private let failed: @Sendable (Int) -> Void
    private let isUnwanted: @Sendable () -> Bool
    /// Bytes of pieces that were hashed, right or wrong.
    private let checked = Mutex(ByteRanges())
    /// What could not be hashed is not right.
    private let failure = Mutex<DownloadError?>(nil)
    private let isScheduled = Atomic(false)
    private let isAbandoned = Atomic(false)

    private static let bufferSize = 1 << 18

    /// - Parameters:
    ///   - queue: shared with other files.
    ///   - isUnwanted: asked on the way; once it says so, nothing more is hashed, and what was not is neither right nor
    ///     wrong.
    ///   - failed: told of each piece that is not what it should be.
    init(
        of file: PartialFile, _ pieces: PieceHashes, total: Int64, queue: DispatchQueue,
        unless isUnwanted: @escaping @Sendable () -> Bool = { false }, failed: @escaping @Sendable (Int) -> Void
    ) {
        self.isUnwanted = isUnwanted
        self.file = file
        self.pieces = pieces
        self.total = total
        self.failed = failed
        self.queue = DispatchQueue(label: "dlm.pieces", target: queue)
    }

    func abandon() { isAbandoned.store(true, ordering: .relaxed) }

    /// There may be more to hash.
    func advance() {
        guard !isScheduled.exchange(true, ordering: .acquiringAndReleasing) else { return }
        queue.async { [self] in
            isScheduled.store(false, ordering: .releasing)
            check()
        }
    }

    /// It is fetched again.
    func recheck(_ index: Int) { checked.withLock { $0.remove(pieces.range(index, size: total)) } }

    /// Returns once all that is whole was hashed, and told, or that is wanted no more; throws when some of it could not be
    /// hashed.
    func settle() async throws(DownloadError) {
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                check()
                continuation.resume()
            }
        }
        if let failure = failure.withLock({ $0 }) { throw failure }
    }

    private func check() {
        let checked = checked.withLock { $0 }
        for range in file.written.ranges {
            for rest in checked.missing(in: range).ranges {
                // Pieces that begin in it, and are whole in what is written.
                var index = Int((rest.lowerBound + pieces.length - 1) / pieces.length)
                while index < pieces.count {
                    let piece = pieces.range(index, size: total)
                    guard piece.upperBound <= range.upperBound else { break }
                    if piece.lowerBound >= rest.upperBound { break }
                    do throws(DownloadError) {
                        guard let isRight = try isRight(index, piece) else { return }
                        self.checked.withLock { $0.insert(piece) }
                        if !isRight { failed(index) }
                    } catch {
                        return failure.withLock { $0 = error }
                    }
                    index += 1
                }
            }
        }
    }

    private func isRight(_ index: Int, _ range: Range<Int64>) throws(DownloadError) -> Bool? {
        try Self.isRight(pieces.digest(index), range, file.descriptor, file.path, pieces.algorithm) {
            isAbandoned.load(ordering: .relaxed) || isUnwanted()
        }
    }

    /// The bytes of the pieces that are what they should be, of a file that may be shorter.
    static func right(
        in path: String, _ pieces: PieceHashes, total: Int64, unless isUnwanted: () -> Bool
    ) throws(DownloadError) -> ByteRanges {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw .file(errno, "open", path: path) }
        defer { close(descriptor) }
        guard let size = FileStatus.of(descriptor: descriptor)?.size else { throw .file(errno, "stat", path: path) }
        var right = ByteRanges()
        for index in 0..<pieces.count {
            let range = pieces.range(index, size: total)
            if range.upperBound > size { break }
            guard
                let isRight = try isRight(
                    pieces.digest(index), range, descriptor, path, pieces.algorithm, unless: isUnwanted)
            else { break }
            if isRight { right.insert(range) }
        }
        return right
    }

    /// Nil: that is wanted no more.
    private static func isRight(
        _ digest: Substring, _ range: Range<Int64>, _ descriptor: Int32, _ path: String,
        _ algorithm: Checksum.Algorithm, unless isUnwanted: () -> Bool
    ) throws(DownloadError) -> Bool? {
        guard let context = dlm_digest_create(algorithm.rawValue) else {
            throw .unexpected("OpenSSL here has no \(algorithm.rawValue)")
        }
        defer { dlm_digest_free(context) }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bufferSize, alignment: 4096)
        defer { buffer.deallocate() }
        var position = range.lowerBound
        while position < range.upperBound {
            if isUnwanted() { return nil }
            let wanted = min(bufferSize, Int(clamping: range.upperBound - position))
            let count = pread(descriptor, buffer.baseAddress, wanted, off_t(position))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .file(count < 0 ? errno : EIO, "read", path: path) }
            if dlm_digest_update(context, buffer.baseAddress, count) != 0 { throw .unexpected("the digest failed") }
            position += Int64(count)
        }
        var out = [UInt8](repeating: 0, count: 64)
        let count = dlm_digest_finish(context, &out)
        FaultPoint.reached("pieceHashed")
        return Checksum(algorithm: algorithm, bytes: out.prefix(count))?.digest == String(digest)
    }
}
