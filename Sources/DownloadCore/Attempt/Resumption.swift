import Foundation

/// Opens the partial file of an earlier attempt, or finds what became of it.
struct Resumption: AttemptPhase {
    enum Found {
        /// Bytes are missing, or all of them.
        case unfinished
        /// All bytes are in the partial file.
        case whole(total: Int64)
        /// The file has its final name already.
        case named
    }

    let attempt: Attempt

    func run() async throws -> Found {
        guard let name = record.fileName else { return .unfinished }
        if hadNoPartial { return try await partialIsGone() }
        let folder = record.request.destination.folder
        do throws(DownloadError) {
            let file = try await context.disk.onWriter { [time = context.time] () throws(DownloadError) in
                try PartialFile.open(folder: folder, name: name, mode: .reopen, time: time)
            }
            try open(file)
        } catch .fileFailed(.folderMissing, _) {
            return try await partialIsGone()
        }
        guard let file else { return .unfinished }
        // Before the first write: whatever ends the process, the file is no longer as the last attempt left it.
        if record.resume.modified != nil {
            record.resume.modified = nil
            try await attempt.save()
        }
        try requireFinalNameFree()
        guard let total = record.resume.total, file.written.contains(0..<total) else { return .unfinished }
        if let error = record.request.validation.failure(size: total) { throw error }
        try record.findListedChecksum()
        if let expected = record.expected, expected.checksum == record.resume.mismatched {
            try await attempt.startOver(why: "its checksum did not match")
            return .unfinished
        }
        control.show(total: total)
        return .whole(total: total)
    }

    /// A small file that was about to get its first name (``SmallFileLane``) either has its name now or is gone.
    private var hadNoPartial: Bool {
        record.isFinishing && record.resume.written.isEmpty && record.resume.total ?? 0 > 0
    }

    /// Better known now than after the last byte.
    private func requireFinalNameFree() throws(DownloadError) {
        guard record.request.destination.ifExists == .fail, let path = record.finalPath,
            let existing = FileStatus.of(path), file?.identity.isSame(as: existing.identity) != true
        else { return }
        throw .fileFailed(.exists, path: path)
    }

    // MARK: The partial file is there

    private func open(_ file: PartialFile) throws(DownloadError) {
        if let identity = record.resume.file, !identity.isSame(as: file.identity) {
            throw .fileFailed(.replaced, path: file.path)
        }
        // Before the look at the time of change: a program that writes after that look is noticed, too.
        if context.watchesWriters { file.watchWriters() }
        try requireUnaltered(file)
        // After a loss of power, or when somebody cut the file off, the disk has less than the record says.
        let trusted = record.resume.trusted(bootID: FileStatus.bootID).clipped(to: try file.length())
        let durable = record.resume.durable.clipped(to: trusted.end)
        record.resume.written = trusted
        attempt.resume(in: file, written: trusted, durable: durable)
    }

    /// Bytes that another program wrote would be in the finished file, unless a checksum tells. After a loss of power the
    /// file system may know an older time.
    private func requireUnaltered(_ file: PartialFile) throws(DownloadError) {
        guard let modified = record.resume.modified, record.expected == nil, !record.resume.written.isEmpty else {
            return
        }
        if modified == ResumeData.altered { throw .fileFailed(.altered, path: file.path) }
        guard record.resume.bootID == FileStatus.bootID else { return }
        if let now = try file.modified(), now != modified { throw .fileFailed(.altered, path: file.path) }
    }

    // MARK: The partial file is gone

    /// The file has its final name already, or it was deleted and there is nothing to resume.
    private func partialIsGone() async throws -> Found {
        if let finished = finishedFile() {
            let file = try await Verification(attempt: attempt).verified(finished)
            let folder = record.request.destination.folder
            try await context.disk.onWriter { () throws(DownloadError) in try FileStatus.syncFolder(folder) }
            record.completed = file
            record.fileName = FileNaming.lastComponent(file.path)
            record.resume = record.resume.afterCompletion
            record.isFinishing = false
            return .named
        }
        let hadData = !record.resume.written.isEmpty
        let isFolderGone = hadData ? try requireSameDevice() : false
        let digest = record.isMirror ? record.resume.digest : nil
        record.resume = record.startedOver
        record.resume.digest = digest
        record.isFinishing = false
        record.fileName = nil
        control.show(received: 0)
        control.show(record)
        if hadData {
            let why = isFolderGone ? DownloadEvent.folderIsGone : DownloadEvent.partialIsGone
            context.announce(.didRestart(DownloadSnapshot(record: record), why: why))
        }
        return .unfinished
    }

    /// The file under the final name, where an earlier attempt was cut off between the rename and its record.
    private func finishedFile() -> CompletedFile? {
        guard let name = record.fileName, let identity = record.resume.file else { return nil }
        let count = record.request.destination.ifExists == .rename ? 9999 : 0
        for candidate in [name] + (0..<count).lazy.map({ FileNaming.alternative(name, $0 + 1) }) {
            let path = FileNaming.path(record.request.destination.folder, candidate)
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

    /// Throws if the disk with the file is not mounted. Such a disk looks like a folder without the file, and the file is
    /// not given up for that. A folder that was deleted leaves its parent on the device, and is made again.
    /// - Returns: whether the folder was deleted.
    private func requireSameDevice() throws(DownloadError) -> Bool {
        let folder = record.request.destination.folder
        let (place, parent) = (FileNaming.path(folder, "."), (folder as NSString).deletingLastPathComponent)
        let found = FileStatus.of(place)
        guard let device = record.resume.device else { return found == nil }
        if let found, found.device == device { return false }
        if case .absent = FileStatus.Look.of(place), FileStatus.of(FileNaming.path(parent, "."))?.device == device {
            return true
        }
        throw .fileFailed(.partialMissing, path: FileNaming.path(folder, FileNaming.partial(record.displayName)))
    }
}
