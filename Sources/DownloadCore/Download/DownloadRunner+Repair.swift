import CSystem
import Foundation

/// `--repair`: of a file that is here only the pieces that are not what they should be are fetched again.
extension DownloadRunner {
    /// Takes up the file, finished or not, with what of it is right. True: all of it is.
    func takeUpForRepair() async throws -> Bool {
        guard let pieces = record.request.pieces else {
            throw DownloadError.verificationFailed(
                .unverifiable("the digests of its pieces are not known; give its Metalink document with -M"))
        }
        let folder = record.request.destination.folder
        guard let name = record.request.destination.fileName ?? record.request.describedName ?? record.fileName else {
            return false
        }
        let path = FileNaming.path(folder, name)
        let partial = FileNaming.path(folder, FileNaming.partial(name))
        if let existing = FileStatus.of(path), existing.isRegular {
            let right = try await rightRanges(of: path, pieces, size: existing.size)
            if right.size == existing.size, right.ranges.contains(0..<right.size) {
                try await noteRight(path, name, existing)
                return true
            }
            try await takeUp(name, existing, right) { () throws(DownloadError) in
                try PartialFile.adopt(folder: folder, name: name, existing.identity)
            }
        } else if record.fileName == name, let existing = FileStatus.of(partial), existing.isRegular {
            if let identity = record.resume.file, !identity.isSame(as: existing.identity) {
                throw DownloadError.fileFailed(.replaced, path: partial)
            }
            let right = try await rightRanges(of: partial, pieces, size: existing.size)
            try await takeUp(name, existing, right) { [time = context.time] () throws(DownloadError) in
                try PartialFile.open(folder: folder, name: name, mode: .reopen, time: time)
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
                .unverifiable("\(path): the digests of its pieces are not for a file of \(total) bytes"))
        }
        control.showFinishing()
        return (try await rightPieces(of: path, pieces, total: total), total)
    }

    /// Throws ``RoundEnd/stopped`` when the session asks for the end meanwhile: what was not hashed is neither right nor wrong.
    private func rightPieces(of path: String, _ pieces: PieceHashes, total: Int64) async throws -> ByteRanges {
        let result: Result<ByteRanges, DownloadError> = await withCheckedContinuation { continuation in
            context.disk.digests.async { [control] in
                continuation.resume(
                    returning: Result { () throws(DownloadError) in
                        try PieceVerifier.right(in: path, pieces, total: total) { control.isStopping }
                    })
            }
        }
        let right = try result.get()
        try obeyStop()
        return right
    }

    private func noteRight(_ path: String, _ name: String, _ existing: FileStatus.Info) async throws {
        record.completed = try await verified(CompletedFile(path, existing))
        record.fileName = name
        record.resume = record.resume.afterCompletion
        control.show(received: existing.size)
        control.show(record)
    }

    /// The store knows what of it is right before it is renamed: cut off in between, it is looked at again.
    private func takeUp(
        _ name: String, _ existing: FileStatus.Info, _ right: (ranges: ByteRanges, size: Int64),
        _ open: @escaping @Sendable () throws(DownloadError) -> PartialFile
    ) async throws {
        try obeyStop()
        record.fileName = name
        record.resume = record.startedOver
        record.resume.file = existing.identity
        record.resume.device = existing.device
        record.resume.bootID = FileStatus.bootID
        record.resume.total = right.size
        record.resume.written = right.ranges
        try await save(durably: true)
        let file = try await context.disk.onWriter(open)
        file.trust(written: right.ranges, durable: ByteRanges())
        inherited = right.ranges
        if context.watchesWriters { file.watchWriters() }
        self.file = file
        control.show(received: right.ranges.count)
        control.show(total: right.size)
        control.show(record)
    }

    // MARK: The end of any download

    /// The digests of the pieces prove that parts are of one version.
    var hasPieces: Bool { record.resume.total.map { record.request.pieces?.fits(size: $0) ?? false } ?? false }

    /// Forgets the pieces that are not what they should be.
    /// - Returns: them; nil where no digests of pieces are known.
    func forgetWrongPieces(of file: PartialFile, _ total: Int64) async throws -> ByteRanges? {
        guard let pieces = record.request.pieces, pieces.fits(size: total) else { return nil }
        let wrong = try await rightPieces(of: file.path, pieces, total: total).missing(in: 0..<total)
        file.forget(wrong)
        readFile()
        return wrong
    }
}
