import DownloadCore
import DownloadSystem
import Foundation
import Synchronization

/// Compares the pieces of a partial file with their digests. Each piece is hashed shortly after it is complete, on a
/// separate queue and not on the write queue.
final class PieceVerifier: Sendable {
    private let file: PartialFile
    private let pieces: PieceHashes
    private let total: Int64
    private let queue: DispatchQueue
    private let failed: @Sendable (Int) -> Void
    private let isUnwanted: @Sendable () -> Bool
    /// The bytes of the pieces that were hashed, whether their digests matched or not.
    private let checked = Mutex(ByteRanges())
    /// The error of a piece that could not be hashed. ``settle()`` throws it, because such a piece is not proved right.
    private let failure = Mutex<DownloadError?>(nil)
    private let isScheduled = Atomic(false)
    private let isAbandoned = Atomic(false)

    /// - Parameters:
    ///   - queue: The queue that does the work. Other files share it.
    ///   - isUnwanted: Called during hashing. Once it returns true, hashing stops, and the remaining pieces are
    ///     reported neither as right nor as wrong.
    ///   - failed: Called with the index of each piece whose digest does not match.
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

    /// Hashes the pieces that have become complete since the last call.
    func advance() {
        guard !isScheduled.exchange(true, ordering: .acquiringAndReleasing) else { return }
        queue.async { [self] in
            isScheduled.store(false, ordering: .releasing)
            check()
        }
    }

    /// Marks a piece as not hashed, because it is fetched again.
    func recheck(_ index: Int) { checked.withLock { $0.remove(pieces.range(index, size: total)) } }

    /// Waits until all complete pieces are hashed and the wrong ones are reported, or until the result is no longer
    /// wanted. Throws an error if a piece could not be hashed.
    func settle() async throws(DownloadError) {
        await queue.run { [self] in check() }
        if let failure = failure.withLock({ $0 }) { throw failure }
    }

    private func check() {
        let checked = checked.withLock { $0 }
        for range in file.written.ranges {
            for rest in checked.missing(in: range).ranges {
                // Hash the pieces that begin in `rest` and are complete in `range`.
                let first = Int((rest.lowerBound + pieces.length - 1) / pieces.length)
                for index in first..<max(first, pieces.count) {
                    let piece = pieces.range(index, size: total)
                    guard piece.upperBound <= range.upperBound, piece.lowerBound < rest.upperBound else { break }
                    do throws(DownloadError) {
                        let isRight = try Self.isRight(
                            pieces.digest(index), piece, file.descriptor, file.path, pieces.algorithm,
                            unless: { isAbandoned.load(ordering: .relaxed) || isUnwanted() })
                        guard let isRight else { return }
                        self.checked.withLock { $0.insert(piece) }
                        if !isRight { failed(index) }
                    } catch {
                        return failure.withLock { $0 = error }
                    }
                }
            }
        }
    }

    /// Returns the ranges of those pieces of a file whose digests match. The file may be shorter than `total`.
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

    /// Returns whether the bytes match the digest. Returns nil if the result is no longer wanted.
    private static func isRight(
        _ digest: Substring, _ range: Range<Int64>, _ descriptor: Int32, _ path: String,
        _ algorithm: Checksum.Algorithm, unless isUnwanted: () -> Bool
    ) throws(DownloadError) -> Bool? {
        let running = try RunningDigest(algorithm)
        guard try running.add(range, of: descriptor, path, unless: isUnwanted) == range.upperBound else { return nil }
        let actual = try running.checksum().digest
        FaultPoint.reached("pieceHashed")
        return actual == digest
    }
}
