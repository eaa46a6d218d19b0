import DownloadCore
import DownloadSystem

/// The step for `--repair`, which keeps the pieces of a file on disk that match their digests. Only the other pieces
/// are fetched again.
struct Repair: AttemptPhase {
    let attempt: Attempt

    /// Checks the pieces of the file on disk, finished or partial. Opens the file as the partial file, with the ranges
    /// of the right pieces as its written ranges. Returns true if the finished file is right in all pieces, so that
    /// nothing has to be fetched.
    @inline(never)
    func run() async throws -> Bool {
        guard let pieces = record.request.pieces else {
            throw DownloadError.piecesUnknown
        }
        let destination = record.request.destination
        guard let name = destination.fileName ?? record.request.describedName ?? record.fileName else { return false }
        let path = FileNaming.path(destination.folder, name)
        let partial = FileNaming.path(destination.folder, FileNaming.partial(name))
        if let existing = FileStatus.of(path), existing.isRegular {
            let right = try await rightRanges(of: path, pieces, size: existing.size)
            if right.size == existing.size, right.ranges.contains(0..<right.size) {
                try await Verification(attempt: attempt).complete(with: CompletedFile(path, existing))
                return true
            }
            try begin(right)
            try await attempt.adopt(name, existing, written: right.ranges)
        } else if record.fileName == name, let existing = FileStatus.of(partial), existing.isRegular {
            if let identity = record.resume.file, !identity.isSame(as: existing.identity) {
                throw DownloadError.fileFailed(.replaced, path: partial)
            }
            let right = try await rightRanges(of: partial, pieces, size: existing.size)
            try begin(right)
            try await attempt.saveIdentity(of: existing, name, written: right.ranges)
            attempt.resume(in: try await attempt.reopen(name), written: right.ranges)
        }
        return false
    }

    private func rightRanges(
        of path: String, _ pieces: PieceHashes, size: Int64
    ) async throws -> (ranges: ByteRanges, size: Int64) {
        let total = record.request.size ?? size
        guard pieces.fits(size: total) else {
            throw DownloadError.verificationFailed(
                .unverifiable("\(path): the digests of its pieces are for a file of another size than \(total) bytes"))
        }
        control.showFinishing()
        return (try await Verification(attempt: attempt).rightPieces(of: path, pieces, total: total), total)
    }

    /// Forgets what the record says about the file, except its size.
    private func begin(_ right: (ranges: ByteRanges, size: Int64)) throws {
        try attempt.obeyStop()
        record.resume = record.startedOver
        record.resume.total = right.size
        control.show(total: right.size)
    }
}
