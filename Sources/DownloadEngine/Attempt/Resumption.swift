import DownloadCore
import DownloadSystem
import Foundation

/// The step that opens the partial file of an earlier attempt, or finds out what happened to this file.
struct Resumption: AttemptPhase {
    enum Found {
        /// Bytes are missing: some of them, or all.
        case unfinished
        /// All bytes are in the partial file.
        case whole
        /// The file has its final name already.
        case named
    }

    let attempt: Attempt

    @inline(never)
    func run() async throws -> Found {
        guard let name = record.fileName else { return .unfinished }
        if hadNoPartial { return try await partialIsGone() }
        do throws(DownloadError) { try open(try await attempt.reopen(name)) } catch .fileFailed(.folderMissing, _) {
            return try await partialIsGone()
        }
        guard let file else { return .unfinished }
        // The first write changes the file's modification time, so the recorded time is removed before. Otherwise,
        // after a kill, the next attempt would take this write for another program's write.
        if record.resume.modified != nil {
            record.resume.modified = nil
            try await attempt.save()
            file.describe(PartialDescription(record, in: context.store.path), version: file.version)
        }
        try requireFinalNameFree()
        guard let total = record.resume.total, file.written.contains(0..<total) else { return .unfinished }
        if let error = record.request.validation.failure(size: total) { throw error }
        try record.findListedChecksum()
        if isKnownWrong {
            try await attempt.startOver(why: "its checksum did not match")
            return .unfinished
        }
        control.show(total: total)
        // The server may have a new version with a good signature.
        return attempt.candidate == nil ? .whole : .unfinished
    }

    /// Whether the bytes did not match the checksum that they must match still, or the one in a signed list.
    private var isKnownWrong: Bool {
        guard let wrong = record.resume.mismatched else { return false }
        if !record.request.signedBy.isEmpty { return wrong.field?.hasPrefix(SignatureCheck.signedList) ?? false }
        guard let expected = record.expected else { return false }
        return expected.checksum == wrong
    }

    /// Whether the download is a small file that was about to get its first name (``SmallFileLane``). Such a file
    /// either has its name now or is gone.
    private var hadNoPartial: Bool {
        record.isFinishing && record.resume.written.isEmpty && record.resume.total ?? 0 > 0
    }

    /// Throws if another file has the final name and must not be touched. So the user learns of the conflict now, and
    /// not after the last byte.
    private func requireFinalNameFree() throws(DownloadError) {
        guard record.request.destination.ifExists == .fail, let path = record.finalPath,
            let existing = FileStatus.of(path), file?.identity.isSame(as: existing.identity) != true
        else { return }
        throw .fileFailed(.exists, path: path)
    }

    private func open(_ file: PartialFile) throws(DownloadError) {
        if let identity = record.resume.file, !identity.isSame(as: file.identity) {
            throw .fileFailed(.replaced, path: file.path)
        }
        // The watch for other writers begins before the modification time is read, so that no write between the two
        // steps is missed.
        if context.watchesWriters { file.watchWriters() }
        try requireUnaltered(file)
        // After a loss of power, or if another program cut the file off, the disk has fewer bytes than the record.
        let trusted = record.resume.trusted(bootID: FileStatus.bootID).clipped(to: try file.length())
        let durable = record.resume.durable.clipped(to: trusted.end)
        record.resume.written = trusted
        attempt.resume(in: file, written: trusted, durable: durable)
    }

    /// Throws if another program wrote to the file, unless a checksum will prove the content. After a reboot the
    /// modification time is not compared, because the time on disk may be an older one.
    private func requireUnaltered(_ file: PartialFile) throws(DownloadError) {
        guard let modified = record.resume.modified, record.stated == nil, !record.resume.written.isEmpty else {
            return
        }
        if modified == ResumeData.altered { throw .fileFailed(.altered, path: file.path) }
        guard record.resume.bootID == FileStatus.bootID else { return }
        if let now = try file.modified(), now != modified { throw .fileFailed(.altered, path: file.path) }
    }

    /// Handles a missing partial file. Either the file has its final name already, or it was deleted and the download
    /// starts over.
    private func partialIsGone() async throws -> Found {
        if let finished = finishedFile() {
            let folder = record.request.destination.folder
            try await context.disk.onWriter { () throws(DownloadError) in try FileStatus.syncFolder(folder) }
            try await Verification(attempt: attempt).complete(with: finished)
            return .named
        }
        let hadData = !record.resume.written.isEmpty
        let isFolderGone = hadData ? try requireSameDevice() : false
        let digest = record.isMirror ? record.resume.digest : nil
        record.resume = record.startedOver
        record.resume.digest = digest
        record.isFinishing = false
        record.fileName = nil
        attempt.show(received: 0)
        if hadData { attempt.announceRestart(isFolderGone ? .folderDeleted : .partialDeleted) }
        return .unfinished
    }

    /// Returns the file under its final name, if an earlier attempt was killed after the rename and before the save of
    /// the record.
    private func finishedFile() -> CompletedFile? {
        guard let name = record.fileName, let identity = record.resume.file else { return nil }
        let count = record.request.destination.ifExists == .rename ? 9999 : 0
        for number in 0...count {
            let path = FileNaming.path(record.request.destination.folder, FileNaming.alternative(name, number))
            guard let status = FileStatus.of(path) else { return nil }
            guard status.isRegular, status.identity.isSame(as: identity), status.size == record.resume.total else {
                continue
            }
            return CompletedFile(
                path: path, bytes: status.size, identity: identity, modified: status.modified,
                validators: record.resume.validators, checksum: record.resume.verified?.checksum,
                verifiedBy: record.resume.verified?.source)
        }
        return nil
    }

    /// Throws if the disk with the file is not mounted. Then its folder is missing, or another one.
    /// - Returns: Whether the folder was deleted while its parent is still on the device. The folder is then made
    ///   again.
    private func requireSameDevice() throws(DownloadError) -> Bool {
        let folder = record.request.destination.folder
        let (place, parent) = (FileNaming.path(folder, "."), (folder as NSString).deletingLastPathComponent)
        let found = FileStatus.of(place)
        let isAbsent = found == nil && FileStatus.isAbsence(errno)
        guard let device = record.resume.device else { return found == nil }
        if let found, found.device == device { return false }
        if isAbsent, FileStatus.of(FileNaming.path(parent, "."))?.device == device { return true }
        throw .fileFailed(.partialMissing, path: FileNaming.path(folder, FileNaming.partial(record.displayName)))
    }
}
