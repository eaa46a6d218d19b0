import DownloadCore
import Foundation

/// The deletion of the files of a removed download.
enum DownloadRemoval {
    /// Deletes the partial file and, if `deletesFile` is true, the finished file. A file is kept if it is no longer the
    /// file that the download wrote. A partial file is also deleted if the record does not say which file the download
    /// wrote.
    static func deleteFiles(of record: DownloadRecord, deletesFile: Bool) throws(DownloadError) {
        if let path = partial(of: record) { try delete(path) }
        if deletesFile, let completed = record.completed, let status = FileStatus.of(completed.path),
            status.identity.isSame(as: completed.identity)
        {
            try delete(completed.path)
        }
    }

    /// Deletes the partial file, before the store removes the download. A failure is ignored here, because
    /// ``deleteFiles(of:deletesFile:)`` tries again and throws the error.
    static func deletePartial(of record: DownloadRecord) {
        guard let path = partial(of: record) else { return }
        unlink(path)
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

    private static func delete(_ path: String) throws(DownloadError) {
        guard unlink(path) == 0 || errno == ENOENT else { throw .file(errno, "delete", path: path) }
    }
}
