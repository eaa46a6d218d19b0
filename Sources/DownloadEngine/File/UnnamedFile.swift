import CSystem
import DownloadCore
import DownloadSystem
import Foundation

/// A complete small file that has no name yet (open(2), O_TMPFILE). If the process ends before the file gets a name,
/// the file disappears with the process.
final class UnnamedFile: Sendable {
    /// A folder that is kept open, so that its path can be checked later.
    final class Folder: Sendable {
        let path: String
        /// Whether the folder was opened through symbolic links, if its path has any.
        let followsLinks: Bool
        let descriptor: Int32

        init(_ path: String, followsLinks: Bool) throws(DownloadError) {
            (self.path, self.followsLinks) = (path, followsLinks)
            descriptor = try FileStatus.openFolder(path, followsLinks: followsLinks)
        }

        deinit { close(descriptor) }
    }

    private let folder: Folder
    private let made: FileStatus.Info
    private let descriptor: Int32

    init(in folder: Folder, _ bytes: UnsafeRawBufferPointer) throws(DownloadError) {
        let descriptor = dlm_open_unnamed(folder.descriptor)
        guard descriptor >= 0 else { throw .file(errno, "open", path: folder.path) }
        FaultPoint.reached("unnamedCreated")
        do throws(DownloadError) {
            guard FileBytes.write(bytes, to: descriptor) else { throw .file(errno, "write", path: folder.path) }
            FaultPoint.reached("unnamedWritten")
            guard let status = FileStatus.of(descriptor: descriptor) else {
                throw .file(errno, "stat", path: folder.path)
            }
            made = status
        } catch {
            close(descriptor)
            throw error
        }
        self.folder = folder
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }
}

extension UnnamedFile: WholeFile {
    package var device: UInt64 { made.device }
    var identity: FileIdentity { made.identity }
    package var folderKey: FolderKey { FolderKey(path: folder.path, descriptor: folder.descriptor) }

    package func sync() throws(DownloadError) {
        guard fdatasync(descriptor) == 0 else { throw .file(errno, "fdatasync", path: folder.path) }
    }

    package func syncFileSystem() throws(DownloadError) {
        guard dlm_syncfs(folder.descriptor) == 0 else { throw .file(errno, "syncfs", path: folder.path) }
    }

    /// Does nothing. The file is fetched again, because nothing recorded its bytes.
    package func forgetUnsynced(_ error: DownloadError) {}

    /// Gives the file its final name. The name also counts as taken if a partial file for this name exists.
    package func takeName(_ rule: NameRule) throws(DownloadError) -> String {
        let partial = FileNaming.partial(rule.name)
        // A link that leads nowhere counts, and so does a check that fails.
        if faccessat(folder.descriptor, partial, F_OK, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT {
            throw .fileFailed(.exists, path: FileNaming.path(folder.path, partial))
        }
        guard dlm_link_unnamed(descriptor, folder.descriptor, rule.name) == 0 else {
            throw .file(errno, "link", path: FileNaming.path(folder.path, rule.name))
        }
        return rule.name
    }

    /// Syncs the folder, and checks that the path still leads to it. One call serves all new files of the folder.
    package func syncFolder() throws(DownloadError) {
        guard fsync(folder.descriptor) == 0 else { throw .file(errno, "fsync", path: folder.path) }
        guard FileStatus.leads(folder.path, to: folder.descriptor) else {
            throw .fileFailed(.folderMoved, path: folder.path)
        }
    }

    /// Returns the status as it was after the bytes were written. No other program can have written to the file.
    package func status() -> FileStatus.Info { made }
}
