import CSystem
import DownloadKit
import Foundation
import Glibc
import Synchronization

/// The steps of `get --unpack DIR`. The archive is downloaded like any file, but into a hidden folder beside DIR. When it
/// is whole and verified, it is unpacked in the hidden folder, and the result is renamed to DIR. So DIR never has only a
/// part of the files, and after an interruption the same command continues with the bytes that have come.
final class Unpacking: Sendable {
    /// The hidden folder. Its lock lasts as long as a process uses the folder.
    private let folder: String
    private let lock: Int32
    private let target: String
    private let context: Context
    private let id = Mutex<DownloadID?>(nil)

    /// Throws before anything is fetched if DIR exists, if a program is missing, or if another process unpacks to DIR.
    init(_ directory: String, of url: String, in context: Context) throws {
        let format = ArchiveFormat(fileName: String(url.prefix { !"?#".contains($0) }))
        try format?.requirePrograms(in: context.environment)
        target = try context.path(of: directory, "--unpack")
        let (parent, name) = ((target as NSString).deletingLastPathComponent, (target as NSString).lastPathComponent)
        folder = FileNaming.path(parent, ".\(name).dlm-unpack")
        if let existing = FileStatus.of(target) {
            if FileStatus.of(folder) != nil { context.console.report("\(folder): has the archive of an earlier run") }
            throw DownloadError.fileFailed(existing.isRegular ? .exists : .notReplaceable, path: target)
        }
        self.context = context
        try FileStatus.makeFolder(folder, followsLinks: true)
        lock = try Self.lock(folder)
    }

    private static func lock(_ folder: String) throws(DownloadError) -> Int32 {
        let lock = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard lock >= 0 else { throw .file(errno, "open", path: folder) }
        var status = stat()
        let failure: DownloadError
        if fstat(lock, &status) == 0, status.st_uid != geteuid() {
            // Another user could exchange the files.
            failure = .file(EPERM, "use", path: folder)
        } else if dlm_lock_exclusive(lock) != 0 || !FileStatus.leads(folder, to: lock) {
            failure = .fileFailed(.locked, path: folder)
        } else {
            return lock
        }
        close(lock)
        throw failure
    }

    /// Removes the hidden folder, unless it has an archive or a part of one.
    deinit {
        rmdir(folder)
        close(lock)
    }

    func place(_ request: DownloadRequest) -> DownloadRequest {
        var placed = request
        placed.destination.folder = folder
        // The server may have a new archive.
        placed.destination.ifExists = .overwrite
        // The archive is deleted once it is unpacked, so hooks of the settings could not use it.
        placed.hooks?.onComplete = nil
        placed.hooks?.completeURL = nil
        placed.hooks?.completeBearerFile = nil
        return placed
    }

    func began(_ added: [AddedDownload]) { id.withLock { $0 = added.first?.record.id } }

    /// Unpacks the archive, if its download has succeeded.
    /// - Returns: The exit status.
    func finish(_ status: Int32, _ service: any SessionRouting, isQuiet: Bool) async throws -> Int32 {
        guard status == 0, let id = id.withLock({ $0 }),
            let archive = try await service.snapshots(.ids([id])).first?.record.completed?.path
        else {
            if status != 0 { return status }
            throw failure("the download was removed before its archive was unpacked")
        }
        if !isQuiet, context.console.errorsAreTerminal { context.console.report("unpacks \(archive)") }
        let task = Task { try await unpack(archive) }
        context.signals.onInterrupt { _ in
            task.cancel()
            _ = await task.result
        }
        let result = await task.result
        // The signal ends the process.
        if task.isCancelled { await Signal().wait() }
        try result.get()
        try await service.remove([id], deletesFile: true)
        if !isQuiet { context.console.print(path: target) }
        return 0
    }

    private func unpack(_ archive: String) async throws {
        guard let format = ArchiveFormat(fileName: archive) else {
            let names = ArchiveFormat.names
            throw failure("\(archive): is kept, because the name says no format that can be unpacked (\(names))")
        }
        try format.requirePrograms(in: context.environment)
        let content = FileNaming.path(folder, "content")
        // A process that was killed has left its files.
        try await delete(content)
        do {
            guard mkdir(content, 0o777) == 0 else { throw DownloadError.file(errno, "mkdir", path: content) }
            if let problem = await run(format.programs[0], format.words(archive: archive, into: content)) {
                throw failure("\(archive): is kept, but not unpacked: \(format.programs[0]) \(problem)")
            }
            let devices = "test -z \"$(find \"$1\" -type b -o -type c)\""
            if geteuid() == 0, await run("sh", ["-c", devices, "sh", content]) != nil {
                throw failure("\(archive): is kept, but not unpacked: it has device files")
            }
            try Task.checkCancellation()
            try publish(content)
        } catch {
            // A cancelled task would end the program that deletes.
            try? await Task { try await delete(content) }.value
            throw error
        }
    }

    private func failure(_ text: String) -> DownloadError { .verificationFailed(.unverifiable(text)) }

    private func delete(_ path: String) async throws {
        guard FileStatus.of(path) != nil else { return }
        // An archive can make folders that cannot be changed.
        if let problem = await run("sh", ["-c", "chmod -R u+rwx \"$1\"; rm -rf \"$1\"", "sh", path]) {
            throw DownloadError.unexpected("\(path): rm \(problem)")
        }
    }

    /// Gives the unpacked folder its name, when all its files are on disk.
    private func publish(_ content: String) throws(DownloadError) {
        var status = stat()
        // An archive can make its top folder read-only, and such a folder cannot be moved.
        guard stat(content, &status) == 0, chmod(content, status.st_mode & 0o7777 | 0o700) == 0, dlm_syncfs(lock) == 0
        else { throw .file(errno, "sync", path: content) }
        // Where the file system cannot rename without replacing, the folder replaces one that is new and empty.
        if dlm_rename_no_replace(AT_FDCWD, content, target) != 0 {
            guard errno == EPERM, mkdir(target, 0o700) == 0 else { throw .file(errno, "rename", path: target) }
            if rename(content, target) != 0 {
                let number = errno
                rmdir(target)
                throw .file(number, "rename", path: target)
            }
        }
        chmod(target, status.st_mode & 0o7777)
        try FileStatus.syncFolder((target as NSString).deletingLastPathComponent)
    }

    /// Returns the last line of a program's output that says what was wrong.
    private static func lastLine(_ output: Int32) -> String {
        let end = Int64(lseek(output, 0, SEEK_END))
        let text = String(decoding: FileBytes.read(output, max(0, end - 4096)..<end) ?? [], as: UTF8.self)
        let line = text.split(whereSeparator: \.isNewline).last { !$0.contains("Exiting with failure status") }
        return line.map { ": \($0.prefix(200))" } ?? ""
    }

    /// Runs a program to its end. Its standard output is the lock, which it so keeps, even if dlm is killed.
    /// - Returns: The problem as text for the user; nil if the program has succeeded.
    private func run(_ program: String, _ words: [String]) async -> String? {
        guard let path = context.environment.program(program) else { return "is not in PATH" }
        // A program can have more to say than fits into memory: a line for each file.
        var errors = dlm_open_unnamed(lock)
        if errors < 0 { errors = dlm_memory_file("", 0) }
        defer { close(errors) }
        // Options in these variables could let an archive write anywhere.
        let environment = HookVariables.inherited(context.environment)
            .filter { !["TAR_OPTIONS", "UNZIP", "UNZIPOPT"].contains($0.key) }
        return await UserProgram.run(
            path, words, environment: environment, folder: "/", input: "", outputs: (lock, errors), within: 1e9,
            overdue: "", said: { [errors] in Self.lastLine(errors) }, time: context.time)
    }
}
