import DownloadCore
import DownloadSystem
import Foundation
import HTTPTypes

/// A file that has the name already and changes what the attempt does.
enum ExistingFile {
    case current
    /// The file is left alone, and the download succeeds.
    indirect case kept(CompletedFile)
    /// The file may be the beginning of the wanted file.
    indirect case beginning(name: String, FileStatus.Info)
    /// A partial file has the name, and its description names this URL (``PartialDescription``).
    indirect case unfinished(name: String, ResumeData)
}

/// The phase that decides the name of the file and makes the partial file.
final class Naming: AttemptPhase {
    let attempt: Attempt
    /// Whether the server gave the file another name than its URL. If so, the name in the URL is no longer looked up on
    /// disk before the request.
    var isNamedByServer = false

    init(_ attempt: Attempt) { self.attempt = attempt }

    private var destination: Destination { record.request.destination }

    /// Returns the file that has the name already, if the download must not go on because of it. The name is the
    /// requested name, or with `--continue` the name in the URL. Called before a request is sent.
    @inline(never)
    func checkBeforehand() throws(DownloadError) -> ExistingFile? {
        guard file == nil, attempt.candidate == nil else { return nil }
        let name =
            destination.fileName
            ?? (destination.continues && !isNamedByServer ? FileNaming.name(fromPath: record.request.url.path) : nil)
        guard let name else { return nil }
        return try existing(named: name)
    }

    /// Makes sure that there is a partial file for the answer. Returns the file that has the name already, if there is
    /// one.
    func openFile(for answer: ProbeAnswer) async throws(DownloadError) -> ExistingFile? {
        if file == nil, let existing = try await createFile(for: answer) { return existing }
        guard let file else { throw .unexpected("a transfer without a file") }
        if !answer.isWhole, context.watchesWriters { file.watchWriters() }
        if let total = recorded({ $0.resume.total }) { try await reserve(total, in: file) }
        announceStart(in: file)
        return nil
    }

    @inline(never)
    private func reserve(_ total: Int64, in file: PartialFile) async throws(DownloadError) {
        try await context.disk.onWriter { () throws(DownloadError) in try file.reserve(total) }
        FaultPoint.reached("afterReserve")
    }

    @inline(never)
    private func announceStart(in file: PartialFile) {
        attempt.startDigest()
        control.show(record)
        context.announce(.didStart(DownloadSnapshot(record: record), atOffset: file.written.count))
    }

    /// Returns the rule by which the partial file gets its final name. Since the download began, another file may have
    /// taken the name, and it may be newer than the server's file.
    func rule(for file: PartialFile, modified: Date?) -> NameRule {
        let existing = record.finalPath.flatMap { FileStatus.of($0) }
        return NameRule(
            name: file.name, replaces: replaces(existing, modified: modified), renames: renames)
    }

    /// Applies the rule for a name that is taken. Returns nil if the name may be used, or if the user wants an
    /// alternative name.
    /// - Parameter modified: The time at which the server's file changed; nil if the server was not asked.
    @inline(never)
    private func existing(named name: String, modified: Date? = nil) throws(DownloadError) -> ExistingFile? {
        let path = FileNaming.path(destination.folder, name)
        // dlm could reach the file through its open folder, but other programs could not use a path of this length.
        if path.utf8.count >= PATH_MAX { throw .fileFailed(.nameUnusable, path: path) }
        guard let existing = FileStatus.of(path) else { return nil }
        try requireNoPartial(name, path)
        switch destination.ifExists {
        case .overwrite, .newer:
            guard existing.isRegular else { throw .fileFailed(.notReplaceable, path: path) }
            if replaces(existing, modified: modified) { return nil }
        case .fail:
            guard destination.continues, record.request.asksRanges, existing.isRegular else {
                throw .fileFailed(.exists, path: path)
            }
            return .beginning(name: name, existing)
        case .skip:
            // A folder does not count as the file that the user already has. A link to a file does.
            guard FileStatus.isFile(path) else { throw .fileFailed(.notReplaceable, path: path) }
        case .rename: return nil
        }
        return .kept(CompletedFile(path, existing))
    }

    /// Returns whether the server's file may replace a file that has its name.
    private func replaces(_ existing: FileStatus.Info?, modified: Date?) -> Bool {
        switch destination.ifExists {
        case .overwrite: return true
        case .newer:
            guard let existing, let modified, !isOutdated(existing) else { return true }
            return modified.timeIntervalSince1970 > Double(existing.modified / 1_000_000_000)
        case .fail, .rename, .skip: return false
        }
    }

    /// Returns whether an earlier run of this download wrote the file, and the server's validators have changed since.
    /// The dates of the files do not matter then.
    private func isOutdated(_ existing: FileStatus.Info) -> Bool {
        guard let completed = record.completed, existing.identity.isSame(as: completed.identity),
            existing.size == completed.bytes, existing.modified == completed.modified
        else { return false }
        let (was, now) = (completed.validators, record.resume.validators)
        if let old = was.etag, let new = now.etag { return old.opaque != new.opaque }
        guard let old = was.lastModified, let new = now.lastModified else { return false }
        return old != new
    }

    /// Throws if the name is the name of a partial file that must not be replaced. A server may call its file
    /// `NAME.part`. Such a file must not replace the partial file of another download, or a file to which a program of
    /// the user writes.
    private func requireNoPartial(_ name: String, _ path: String) throws(DownloadError) {
        guard [.overwrite, .newer].contains(destination.ifExists), FileNaming.isPartial(name) else { return }
        if PartialFile.isLocked(path) { throw .fileFailed(.locked, path: path) }
        if destination.fileName == nil { throw .fileFailed(.partialExists, path: path) }
    }

    /// Decides the name and makes the partial file. The name is stored before the partial file is made, so that every
    /// partial file on disk belongs to a download in the store.
    private func createFile(for answer: ProbeAnswer) async throws(DownloadError) -> ExistingFile? {
        if recorded({ $0.request.destination.createsFolders }) { try await makeFolder() }
        var candidates = Candidates(wanted: wantedName(for: answer), modified: modified(of: answer))
        while true {
            let (name, existing) = try next(&candidates)
            if let existing { return existing }
            if isPartialTaken(name) {
                if let resume = try await described(name) { return .unfinished(name: name, resume) }
            } else if try await createFile(named: name) {
                return nil
            }
            try requireAnother(than: name)
        }
    }

    /// The names that are tried for a new file, one after another.
    private struct Candidates {
        let wanted: String
        /// The time at which the server's file changed; nil if it is not known.
        let modified: Date?
        var count = 0
    }

    /// Returns the next name, with the file that has the name if the download must not go on because of it.
    @inline(never)
    private func next(
        _ candidates: inout Candidates
    ) throws(DownloadError) -> (name: String, existing: ExistingFile?) {
        while candidates.count < 10_000 {
            let name = FileNaming.alternative(candidates.wanted, candidates.count)
            candidates.count += 1
            if renames, FileStatus.of(FileNaming.path(destination.folder, name)) != nil { continue }
            return (name, try existing(named: name, modified: candidates.modified))
        }
        throw .fileFailed(.exists, path: FileNaming.path(destination.folder, candidates.wanted))
    }

    private var renames: Bool { destination.ifExists == .rename }

    /// Throws if a partial file has the name and the user does not want another name.
    @inline(never)
    private func requireAnother(than name: String) throws(DownloadError) {
        if renames { return }
        let path = FileNaming.path(destination.folder, FileNaming.partial(name))
        throw .fileFailed(PartialFile.whyTaken(path, time: context.time), path: path)
    }

    @inline(never)
    private func modified(of answer: ProbeAnswer) -> Date? {
        answer.head.fields.value(.lastModified).flatMap { HTTPDate.parse($0, now: context.time.date) }
    }

    @inline(never)
    private func makeFolder() async throws(DownloadError) {
        let (folder, followsLinks) = recorded { ($0.request.destination.folder, $0.request.destination.followsLinks) }
        try await context.disk.onWriter { () throws(DownloadError) in
            try FileStatus.makeFolder(folder, followsLinks: followsLinks)
        }
    }

    /// Returns the name for the file. A name that a mirror gives is ignored.
    @inline(never)
    private func wantedName(for answer: ProbeAnswer) -> String {
        guard record.isMirror else { return destination.name(of: answer.head, from: answer.url) }
        return destination.fileName ?? record.request.describedName
            ?? FileNaming.name(contentDisposition: nil, url: record.request.url)
    }

    /// Makes the partial file for a name.
    /// - Returns: False if a partial file for that name exists already. It belongs to another download, or to none.
    @inline(never)
    private func createFile(named name: String) async throws(DownloadError) -> Bool {
        setName(name)
        do throws(DownloadError) {
            // Without a durable save, a loss of power could leave a partial file that belongs to no download in the
            // store.
            try await attempt.save(durably: true)
            FaultPoint.reached("beforeCreate")
            try await open(name)
            return true
        } catch {
            setName(nil)
            if case .fileFailed(.partialExists, _) = error { return false }
            throw error
        }
    }

    @inline(never)
    private func setName(_ name: String?) { record.fileName = name }

    @inline(never)
    private func isPartialTaken(_ name: String) -> Bool {
        FileStatus.of(FileNaming.path(destination.folder, FileNaming.partial(name))) != nil
    }

    /// Returns the resume data in the description of the partial file of `name`. Nil if the file belongs to another URL,
    /// to another store, or to another download that the store still has.
    @inline(never)
    private func described(_ name: String) async throws(DownloadError) -> ResumeData? {
        guard let own = PartialDescription(record, in: context.store.path) else { return nil }
        let folder = recorded { $0.request.destination.folder }
        let found = try await context.disk.onWriter { () throws(DownloadError) in
            PartialDescription.read(in: folder, name: name)
        }
        guard var found, found.url == own.url, found.store == own.store, try await !isOwned(found, name) else {
            return nil
        }
        if found.resume.durable.isEmpty || !record.request.asksRanges { found.forgetRanges() }
        if let total = found.resume.total {
            // Something must be left to ask for, so that the server's version is compared.
            found.resume.durable.remove(max(0, total - 1)..<total)
        }
        found.resume.written = found.resume.durable
        return found.resume
    }

    /// Returns whether another download of the store has the partial file.
    private func isOwned(_ found: PartialDescription, _ name: String) async throws(DownloadError) -> Bool {
        if found.id == record.id { return false }
        do {
            let others = try await context.store.records(DownloadSelection(.ids([found.id])))
            // A download that was killed early does not know the identity of its file yet.
            return others.contains { $0.resume.file.map { $0 == found.resume.file } ?? ($0.fileName == name) }
        } catch DownloadError.noSuchDownload {
            return false
        } catch {
            throw error as? DownloadError ?? .unexpected("\(error)")
        }
    }

    @inline(never)
    private func open(_ name: String) async throws(DownloadError) {
        let made = try await context.disk.onWriter {
            [record = record, store = context.store.path, renames = renames, time = context.time]
            () throws(DownloadError) in
            let destination = record.request.destination
            defer { FaultPoint.reached("afterCreate") }
            let made = try PartialFile.open(
                folder: destination.folder, name: name, mode: .create, followsLinks: destination.followsLinks,
                time: time)
            // Another download may have got the name since the name was found free. From now on none can get it.
            if renames, FileStatus.of(FileNaming.path(destination.folder, name)) != nil {
                made.remove()
                throw .fileFailed(.partialExists, path: made.path)
            }
            made.describe(PartialDescription(record, in: store), version: made.version)
            return made
        }
        attempt.local = LocalFile(file: made)
    }
}
