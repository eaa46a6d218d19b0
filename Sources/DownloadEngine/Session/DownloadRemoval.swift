import DownloadCore
import DownloadSystem
import Foundation

/// The deletion of the files of a removed download.
enum DownloadRemoval {
    /// Deletes the partial file and, if `deletesFile` is true, the finished file. A file is kept if it is no longer the
    /// file that the download wrote. A partial file is also deleted if the record does not say which file the download
    /// wrote.
    static func deleteFiles(of record: DownloadRecord, deletesFile: Bool) throws(DownloadError) {
        let follows = record.request.destination.followsLinks
        if let path = partial(of: record) { try delete(path, followsLinks: follows) }
        if deletesFile, let finished = finished(of: record), let status = FileStatus.of(finished.path),
            status.identity.isSame(as: finished.identity)
        {
            try delete(finished.path, followsLinks: follows)
        }
    }

    /// Returns the finished file; nil if there is none. A process may have died after it gave the file its name, and
    /// before the record said so.
    private static func finished(of record: DownloadRecord) -> (path: String, identity: FileIdentity)? {
        if let completed = record.completed { return (completed.path, completed.identity) }
        guard record.isFinishing, let name = record.fileName, let identity = record.resume.file else { return nil }
        return (FileNaming.path(record.request.destination.folder, name), identity)
    }

    /// Deletes the partial file, before the store removes the download. A failure is ignored here, because
    /// ``deleteFiles(of:deletesFile:)`` tries again and throws the error.
    static func deletePartial(of record: DownloadRecord) {
        guard let path = partial(of: record) else { return }
        try? delete(path, followsLinks: record.request.destination.followsLinks)
        FaultPoint.reached("partialRemoved")
    }

    /// Returns the path of the download's own partial file, or nil if there is none.
    private static func partial(of record: DownloadRecord) -> String? {
        guard let name = record.fileName, record.state != .completed else { return nil }
        let path = FileNaming.path(record.request.destination.folder, FileNaming.partial(name))
        guard let status = FileStatus.of(path), record.resume.file.map({ $0.isSame(as: status.identity) }) ?? true
        else { return nil }
        return path
    }

    private static func delete(_ path: String, followsLinks: Bool) throws(DownloadError) {
        var folder = AT_FDCWD
        if !followsLinks {
            folder = try FileStatus.openFolder((path as NSString).deletingLastPathComponent, followsLinks: false)
        }
        defer { if folder != AT_FDCWD { close(folder) } }
        let name = followsLinks ? path : (path as NSString).lastPathComponent
        guard unlinkat(folder, name, 0) == 0 || errno == ENOENT else { throw .file(errno, "delete", path: path) }
    }
}
