import DownloadCore

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
        let (folder, followsLinks) = (destination.folder, destination.followsLinks)
        guard let name = destination.fileName ?? record.request.describedName ?? record.fileName else { return false }
        let path = FileNaming.path(folder, name)
        let partial = FileNaming.path(folder, FileNaming.partial(name))
        if let existing = FileStatus.of(path), existing.isRegular {
            let right = try await rightRanges(of: path, pieces, size: existing.size)
            if right.size == existing.size, right.ranges.contains(0..<right.size) {
                try await Verification(attempt: attempt).complete(with: CompletedFile(path, existing))
                return true
            }
            try await open(name, existing, right) { () throws(DownloadError) in
                try PartialFile.adopt(folder: folder, name: name, existing.identity, followsLinks: followsLinks)
            }
        } else if record.fileName == name, let existing = FileStatus.of(partial), existing.isRegular {
            if let identity = record.resume.file, !identity.isSame(as: existing.identity) {
                throw DownloadError.fileFailed(.replaced, path: partial)
            }
            let right = try await rightRanges(of: partial, pieces, size: existing.size)
            try await open(name, existing, right) { [time = context.time] () throws(DownloadError) in
                try PartialFile.open(folder: folder, name: name, mode: .reopen, followsLinks: followsLinks, time: time)
            }
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

    /// Saves the right ranges and opens the file as the partial file. The ranges are stored before the file is renamed.
    /// If the process ends between the save and the rename, the next attempt checks the pieces again.
    private func open(
        _ name: String, _ existing: FileStatus.Info, _ right: (ranges: ByteRanges, size: Int64),
        _ open: @escaping @Sendable () throws(DownloadError) -> PartialFile
    ) async throws {
        try attempt.obeyStop()
        record.fileName = name
        record.resume = record.startedOver
        record.resume.file = existing.identity
        record.resume.device = existing.device
        record.resume.bootID = FileStatus.bootID
        record.resume.total = right.size
        record.resume.written = right.ranges
        try await attempt.save(durably: true)
        control.show(total: right.size)
        attempt.resume(in: try await context.disk.onWriter(open), written: right.ranges)
    }
}
