import Foundation

/// The files of a download that is forgotten.
enum DownloadRemoval {
    /// Deletes the partial file, and the finished one when asked to, each only if it is still the file it was.
    static func deleteFiles(of record: DownloadRecord, deletesFile: Bool) throws(DownloadError) {
        if let name = record.fileName, record.state != .completed {
            let path = FileNaming.path(record.request.destination.folder, FileNaming.partial(name))
            if let status = FileStatus.of(path), record.resume.file.map({ $0.isSame(as: status.identity) }) ?? true {
                try delete(path)
            }
        }
        if deletesFile, let completed = record.completed, let status = FileStatus.of(completed.path),
            status.identity.isSame(as: completed.identity)
        {
            try delete(completed.path)
        }
    }

    private static func delete(_ path: String) throws(DownloadError) {
        guard unlink(path) == 0 || errno == ENOENT else { throw .file(errno, "delete", path: path) }
    }
}
