import Foundation
import HTTPTypes

/// What is on disk before, and what happens to it after, the transfers.
extension DownloadRunner {
    // MARK: Before

    /// Takes up the partial file of an earlier attempt. True: that was all there was to do.
    func finishWhatIsThere() async throws -> Bool {
        guard let name = record.fileName else { return false }
        if hadNoPartial { return try await partialIsGone() }
        let folder = record.request.destination.folder
        do throws(DownloadError) {
            let file = try await context.disk.onWriter { [time = context.time] () throws(DownloadError) in
                try PartialFile.open(folder: folder, name: name, mode: .reopen, time: time)
            }
            try takeUp(file)
        } catch .fileFailed(.folderMissing, _) {
            return try await partialIsGone()
        }
        guard let file else { return false }
        // Before the first write: whatever ends the process, it is no longer as the last attempt left it.
        if record.resume.modified != nil {
            record.resume.modified = nil
            try await save()
        }
        try requireFinalNameFree()
        guard let total = record.resume.total, file.written.contains(0..<total) else { return false }
        if let error = record.request.validation.failure(size: total) { throw error }
        try findListedChecksum()
        if let expected, expected.checksum == record.resume.mismatched {
            try await startOver(why: "its checksum did not match")
            return false
        }
        control.show(total: total)
        context.transfersEnded(record.id, control)
        try await finish(total: total)
        return true
    }

    /// A small file that was to get its name from having none (``SmallFileLane``): it has it now, or is gone.
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

    private func takeUp(_ file: PartialFile) throws(DownloadError) {
        if let identity = record.resume.file, !identity.isSame(as: file.identity) {
            throw .fileFailed(.replaced, path: file.path)
        }
        if context.watchesWriters { file.watchWriters() }
        try requireUnaltered(file)
        // The disk may have less than the record says, after a loss of power or somebody's truncation.
        let trusted = record.resume.trusted(bootID: FileStatus.bootID).clipped(to: try file.length())
        file.trust(written: trusted, durable: record.resume.durable.clipped(to: trusted.end))
        record.resume.written = trusted
        inherited = trusted
        control.show(received: trusted.count)
        control.show(record)
        self.file = file
    }

    /// Bytes that another program wrote would end up in the finished file, unless there is a checksum to tell. After a
    /// loss of power the file system may know an older time.
    private func requireUnaltered(_ file: PartialFile) throws(DownloadError) {
        guard let modified = record.resume.modified, expected == nil, !record.resume.written.isEmpty else { return }
        if modified == ResumeData.altered { throw .fileFailed(.altered, path: file.path) }
        guard record.resume.bootID == FileStatus.bootID else { return }
        if let now = try file.modified(), now != modified { throw .fileFailed(.altered, path: file.path) }
    }

    /// Either it has its final name already, or it was deleted and there is nothing to go on with.
    private func partialIsGone() async throws -> Bool {
        if let finished = finishedFile() {
            let file = try await verified(finished)
            let folder = record.request.destination.folder
            try await context.disk.onWriter { () throws(DownloadError) in try FileStatus.syncFolder(folder) }
            record.completed = file
            record.fileName = FileNaming.lastComponent(file.path)
            record.resume = record.resume.afterCompletion
            record.isFinishing = false
            return true
        }
        let hadData = !record.resume.written.isEmpty
        let isFolderGone = hadData ? try requireSameDevice() : false
        let digest = isMirror ? record.resume.digest : nil
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
        return false
    }

    /// The file under its final name, where an earlier attempt was cut off between the rename and its record.
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

    /// A disk that is not mounted looks like a folder without the file: what lies there is not given up for that. A
    /// folder that was deleted leaves its parent on the device, and is made again.
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

    // MARK: The name

    /// What can be known without the server: a name that was asked for and is taken.
    @inline(never)
    func checkNameBeforehand() throws {
        guard file == nil, currentCandidate() == nil else { return }
        let destination = record.request.destination
        if let name = destination.fileName {
            _ = try freeName(name)
        } else if destination.continues, triesNameOfURL, let name = FileNaming.name(fromPath: record.request.url.path) {
            _ = try freeName(name)
        }
    }

    /// The final name by the rules for one that is taken; nil when it is to be another one.
    /// - Parameter modified: what the server says of its file, where it was asked.
    private func freeName(_ name: String, modified: Date? = nil) throws -> String? {
        let path = FileNaming.path(record.request.destination.folder, name)
        // Reachable through its folder, and by nobody who is told its path.
        if path.utf8.count >= PATH_MAX { throw DownloadError.fileFailed(.nameUnusable, path: path) }
        guard let existing = FileStatus.of(path) else { return name }
        try requireNoPartial(name, path)
        switch record.request.destination.ifExists {
        case .overwrite, .newer:
            guard existing.isRegular else { throw DownloadError.fileFailed(.notReplaceable, path: path) }
            if replaces(existing, modified: modified) { return name }
            throw RoundEnd.alreadyThere(CompletedFile(path, existing))
        case .fail:
            if record.request.destination.continues, record.request.asksRanges, existing.isRegular {
                throw RoundEnd.continuable(Continuable(name: name, file: existing))
            }
            throw DownloadError.fileFailed(.exists, path: path)
        case .skip:
            // A folder is no file that the user has already. A link to a file is one.
            guard FileStatus.isFile(path) else { throw DownloadError.fileFailed(.notReplaceable, path: path) }
            throw RoundEnd.alreadyThere(CompletedFile(path, existing))
        case .rename: return nil
        }
    }

    /// Whether the server's file may take the place of one that has its name.
    private func replaces(_ existing: FileStatus.Info?, modified: Date?) -> Bool {
        switch record.request.destination.ifExists {
        case .overwrite: return true
        case .newer:
            guard let existing, let modified, !isOutdated(existing) else { return true }
            return modified.timeIntervalSince1970 > Double(existing.modified / 1_000_000_000)
        case .fail, .rename, .skip: return false
        }
    }

    /// It is what this download left, and the server has told since that its file changed: whatever its date.
    private func isOutdated(_ existing: FileStatus.Info) -> Bool {
        guard let completed = record.completed, existing.identity.isSame(as: completed.identity),
            existing.size == completed.bytes, existing.modified == completed.modified
        else { return false }
        let (was, now) = (completed.validators, record.resume.validators)
        if let old = was.etag, let new = now.etag { return old.opaque != new.opaque }
        guard let old = was.lastModified, let new = now.lastModified else { return false }
        return old != new
    }

    /// What one download has fetched so far is not replaced by the finished file of another that a server calls
    /// `NAME.part`, nor by one of a user while it is written to.
    private func requireNoPartial(_ name: String, _ path: String) throws(DownloadError) {
        let destination = record.request.destination
        guard [.overwrite, .newer].contains(destination.ifExists), FileNaming.isPartial(name) else { return }
        if PartialFile.isLocked(path) { throw .fileFailed(.locked, path: path) }
        if destination.fileName == nil { throw .fileFailed(.partialExists, path: path) }
    }

    /// The field that may name the file; nil where the user wants the URL to.
    func disposition(_ head: ResponseHead) -> String? { isMirror ? nil : record.request.destination.disposition(head) }

    /// Decides the name and makes the partial file. The name is in the store before the file exists, so that a file
    /// found later has an owner.
    func createFile(_ head: ResponseHead, _ url: SourceURL) async throws -> PartialFile {
        let destination = record.request.destination
        // What a mirror calls it is its own affair.
        let wanted =
            isMirror
            ? destination.fileName ?? record.request.describedName ?? FileNaming.name(contentDisposition: nil, url: url)
            : destination.name(of: head, from: url)
        if destination.createsFolders {
            try await context.disk.onWriter { () throws(DownloadError) in
                try FileStatus.makeFolder(destination.folder)
            }
        }
        let modified = head.fields.value(.lastModified).flatMap { HTTPDate.parse($0, now: context.time.date) }
        for count in 0...9999 {
            let candidate = count == 0 ? wanted : FileNaming.alternative(wanted, count)
            guard let name = try freeName(candidate, modified: modified) else { continue }
            if let file = try await createFile(named: name) { return file }
            let path = FileNaming.path(destination.folder, FileNaming.partial(name))
            guard destination.ifExists == .rename else {
                throw DownloadError.fileFailed(PartialFile.whyTaken(path, time: context.time), path: path)
            }
        }
        throw DownloadError.fileFailed(.exists, path: FileNaming.path(destination.folder, wanted))
    }

    /// Nil: a partial file of that name belongs to somebody else.
    private func createFile(named name: String) async throws -> PartialFile? {
        let folder = record.request.destination.folder
        if FileStatus.of(FileNaming.path(folder, FileNaming.partial(name))) != nil { return nil }
        record.fileName = name
        do {
            // Lost with the power, the name would leave the partial file to nobody.
            try await save(durably: true)
            FaultPoint.reached("beforeCreate")
            return try await context.disk.onWriter { [time = context.time] () throws(DownloadError) in
                defer { FaultPoint.reached("afterCreate") }
                return try PartialFile.open(folder: folder, name: name, mode: .create, time: time)
            }
        } catch {
            record.fileName = nil
            if case DownloadError.fileFailed(.partialExists, _) = error { return nil }
            throw error
        }
    }

    func save(durably: Bool = false) async throws(DownloadError) {
        record.updated = context.time.date
        try await save(record, durably: durably)
    }

    func save(_ record: DownloadRecord, durably: Bool) async throws(DownloadError) {
        let lost: Set<DownloadID>
        do {
            lost = try await context.store.save([record], session: context.session, durably: durably)
        } catch {
            throw error as? DownloadError ?? .unexpected("\(error)")
        }
        if lost.contains(record.id) { throw disowned }
    }

    // MARK: After

    private static let quicklyFinished: Int64 = 1 << 20

    /// All bytes are written: verify, sync, rename, record.
    func finish(total: Int64) async throws {
        guard let file else { throw DownloadError.unexpected("nothing to finish") }
        try requireSize(total)
        control.showFinishing()
        await finishCheckpoint()
        let lost = try await context.disk.onWriter { () throws(DownloadError) in
            let lost = try file.cutOff(before: total)
            file.forget(lost)
            if lost.isEmpty { try file.cut(to: total) }
            return lost
        }
        if !lost.isEmpty { throw DownloadError.fileFailed(.truncated, path: file.path) }
        readFile()
        // Hashing and syncing much takes its time: whatever ends the process meanwhile, all of it is known to be here.
        if total > Self.quicklyFinished { try await save() }
        FaultPoint.reached("beforeChecksum")
        try await verify(file, total)
        try file.requireUnwritten()
        noteAttempt("completed")
        // Judged again: what came to the name meanwhile may be newer.
        let modified = record.resume.validators.lastModified.flatMap { HTTPDate.parse($0, now: context.time.date) }
        let replaces = replaces(record.finalPath.flatMap { FileStatus.of($0) }, modified: modified)
        if record.request.destination.keepsRemoteTime, let modified { file.date(modified) }
        let rule = NameRule(
            name: file.name, replaces: replaces, renames: record.request.destination.ifExists == .rename)
        record = try await context.committer.commit(record, file, rule)
    }
}

extension Destination {
    /// The name asked for, or what the server calls the file.
    func name(of head: ResponseHead, from url: SourceURL) -> String {
        fileName ?? FileNaming.name(contentDisposition: disposition(head), url: url)
    }

    /// The field that may name the file; nil where the user wants the URL to.
    func disposition(_ head: ResponseHead) -> String? {
        takesServerName ? head.fields.values(.contentDisposition).first : nil
    }
}
