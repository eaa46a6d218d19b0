import Foundation
import HTTPTypes

/// A file that has the final name already and changes what the attempt does.
enum ExistingFile {
    /// The file is current, and is recorded as that.
    case current
    /// The file is left alone, and the download succeeds.
    indirect case kept(CompletedFile)
    /// The file may be the beginning of the wanted one.
    indirect case beginning(FileBeginning)
}

/// A file under the final name that may be the beginning of the wanted one.
struct FileBeginning {
    let name: String
    let file: FileStatus.Info
}

/// Decides the name of the file and makes the partial file.
final class Naming: AttemptPhase {
    let attempt: Attempt
    /// Set once the server has given the file another name than its URL does.
    var isNamedByServer = false

    init(_ attempt: Attempt) { self.attempt = attempt }

    private var destination: Destination { record.request.destination }

    /// Finds out, without the server, that a name which was asked for is taken.
    @inline(never)
    func checkBeforehand() throws(DownloadError) -> ExistingFile? {
        guard file == nil, record.currentFile == nil else { return nil }
        let name =
            destination.fileName
            ?? (destination.continues && !isNamedByServer ? FileNaming.name(fromPath: record.request.url.path) : nil)
        guard let name else { return nil }
        return try existing(named: name)
    }

    /// Makes sure that there is a partial file for the answer. Returns nil, or the file that has the name already.
    func openFile(for answer: ProbeAnswer) async throws(DownloadError) -> ExistingFile? {
        if file == nil, let existing = try await createFile(for: answer) { return existing }
        guard let file else { throw .unexpected("a transfer without a file") }
        if !answer.isWhole, context.watchesWriters { file.watchWriters() }
        if let total = record.resume.total {
            try await context.disk.onWriter { () throws(DownloadError) in try file.reserve(total) }
            FaultPoint.reached("afterReserve")
        }
        announceStart(in: file)
        return nil
    }

    @inline(never)
    private func announceStart(in file: PartialFile) {
        attempt.startDigest()
        control.show(record)
        context.announce(.didStart(DownloadSnapshot(record: record), atOffset: file.written.count))
    }

    /// Returns how the partial file gets its final name. What came to the name meanwhile may be newer than the server's.
    func rule(for file: PartialFile, modified: Date?) -> NameRule {
        let existing = record.finalPath.flatMap { FileStatus.of($0) }
        return NameRule(
            name: file.name, replaces: replaces(existing, modified: modified), renames: destination.ifExists == .rename)
    }

    /// Applies the rules for a name that is taken, where no alternative is wanted. Returns nil if the name may be used.
    /// - Parameter modified: when the server's file changed, where the server was asked.
    @inline(never)
    private func existing(named name: String, modified: Date? = nil) throws(DownloadError) -> ExistingFile? {
        let path = FileNaming.path(destination.folder, name)
        // The file could be reached through its folder, but not by a program that is given its path.
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
            return .beginning(FileBeginning(name: name, file: existing))
        case .skip:
            // A folder is no file that the user has already. A link to a file is one.
            guard FileStatus.isFile(path) else { throw .fileFailed(.notReplaceable, path: path) }
        case .rename: return nil
        }
        return .kept(CompletedFile(path, existing))
    }

    /// Whether the server's file may take the place of one that has its name.
    private func replaces(_ existing: FileStatus.Info?, modified: Date?) -> Bool {
        switch destination.ifExists {
        case .overwrite: return true
        case .newer:
            guard let existing, let modified, !isOutdated(existing) else { return true }
            return modified.timeIntervalSince1970 > Double(existing.modified / 1_000_000_000)
        case .fail, .rename, .skip: return false
        }
    }

    /// This download left the file, and the server has told since that its own file changed, whatever the date of that.
    private func isOutdated(_ existing: FileStatus.Info) -> Bool {
        guard let completed = record.completed, existing.identity.isSame(as: completed.identity),
            existing.size == completed.bytes, existing.modified == completed.modified
        else { return false }
        let (was, now) = (completed.validators, record.resume.validators)
        if let old = was.etag, let new = now.etag { return old.opaque != new.opaque }
        guard let old = was.lastModified, let new = now.lastModified else { return false }
        return old != new
    }

    /// A finished file that a server calls `NAME.part` does not replace what another download has fetched so far, nor a
    /// file of the user that a program writes to.
    private func requireNoPartial(_ name: String, _ path: String) throws(DownloadError) {
        guard [.overwrite, .newer].contains(destination.ifExists), FileNaming.isPartial(name) else { return }
        if PartialFile.isLocked(path) { throw .fileFailed(.locked, path: path) }
        if destination.fileName == nil { throw .fileFailed(.partialExists, path: path) }
    }

    /// Decides the name and makes the partial file. The store has the name first, so that a file found has an owner.
    private func createFile(for answer: ProbeAnswer) async throws(DownloadError) -> ExistingFile? {
        let destination = destination
        if destination.createsFolders {
            try await context.disk.onWriter { () throws(DownloadError) in
                try FileStatus.makeFolder(destination.folder)
            }
        }
        let wanted = wantedName(for: answer)
        let modified = answer.head.fields.value(.lastModified)
            .flatMap { HTTPDate.parse($0, now: context.time.date) }
        for count in 0...9999 {
            let name = count == 0 ? wanted : FileNaming.alternative(wanted, count)
            let isTaken = FileStatus.of(FileNaming.path(destination.folder, name)) != nil
            if destination.ifExists == .rename, isTaken { continue }
            if let existing = try existing(named: name, modified: modified) { return existing }
            if try await createFile(named: name) { return nil }
            let path = FileNaming.path(destination.folder, FileNaming.partial(name))
            guard destination.ifExists == .rename else {
                throw .fileFailed(PartialFile.whyTaken(path, time: context.time), path: path)
            }
        }
        throw .fileFailed(.exists, path: FileNaming.path(destination.folder, wanted))
    }

    /// The name that a mirror gives the file does not count.
    @inline(never)
    private func wantedName(for answer: ProbeAnswer) -> String {
        guard record.isMirror else { return destination.name(of: answer.head, from: answer.url) }
        return destination.fileName ?? record.request.describedName
            ?? FileNaming.name(contentDisposition: nil, url: record.request.url)
    }

    /// - Returns: false where a partial file of that name belongs to another download.
    private func createFile(named name: String) async throws(DownloadError) -> Bool {
        let folder = destination.folder
        if FileStatus.of(FileNaming.path(folder, FileNaming.partial(name))) != nil { return false }
        record.fileName = name
        do throws(DownloadError) {
            // A name lost with the power would leave the partial file without an owner.
            try await attempt.save(durably: true)
            FaultPoint.reached("beforeCreate")
            let made = try await context.disk.onWriter { [time = context.time] () throws(DownloadError) in
                defer { FaultPoint.reached("afterCreate") }
                return try PartialFile.open(folder: folder, name: name, mode: .create, time: time)
            }
            attempt.local = LocalFile(made, inherited: ByteRanges())
            return true
        } catch {
            record.fileName = nil
            if case .fileFailed(.partialExists, _) = error { return false }
            throw error
        }
    }
}

extension Destination {
    /// Returns the name asked for, or what the server calls the file.
    func name(of head: ResponseHead, from url: SourceURL) -> String {
        fileName ?? FileNaming.name(contentDisposition: disposition(head), url: url)
    }

    /// The field that may name the file; nil where the user wants the URL to.
    func disposition(_ head: ResponseHead) -> String? {
        takesServerName ? head.fields.values(.contentDisposition).first : nil
    }
}
