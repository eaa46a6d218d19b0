import CSystem
import Foundation

/// A whole small file that has no name yet (open(2), O_TMPFILE): until it is given one, whatever ends the process leaves
/// nothing behind.
final class UnnamedFile: @unchecked Sendable {
    /// Held open, so that it can be told whether its path still leads to it.
    final class Folder: Sendable {
        let path: String
        let descriptor: Int32

        init(_ path: String) throws(DownloadError) {
            self.path = path
            descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard descriptor >= 0 else { throw .file(errno, "open", path: path) }
        }

        deinit { close(descriptor) }

        /// Something has this name, whatever it leads to.
        func has(_ name: String) -> Bool {
            faccessat(descriptor, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT
        }

        var isInPlace: Bool { FileStatus.leads(path, to: descriptor) }

        func sync() throws(DownloadError) {
            guard fsync(descriptor) == 0 else { throw .file(errno, "fsync", path: path) }
        }

        func syncFileSystem() throws(DownloadError) {
            guard dlm_syncfs(descriptor) == 0 else { throw .file(errno, "syncfs", path: path) }
        }
    }

    let folder: Folder
    let status: FileStatus.Info
    private let descriptor: Int32

    /// Makes the file with these bytes.
    init(in folder: Folder, _ bytes: UnsafeRawBufferPointer) throws(DownloadError) {
        let descriptor = dlm_open_unnamed(folder.descriptor)
        guard descriptor >= 0 else { throw .file(errno, "open", path: folder.path) }
        FaultPoint.reached("unnamedCreated")
        do throws(DownloadError) {
            try Self.write(bytes, to: descriptor, folder.path)
            FaultPoint.reached("unnamedWritten")
            guard let status = FileStatus.of(descriptor: descriptor) else {
                throw .file(errno, "stat", path: folder.path)
            }
            self.status = status
        } catch {
            close(descriptor)
            throw error
        }
        self.folder = folder
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    private static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32, _ folder: String)
        throws(DownloadError)
    {
        var done = 0
        while done < bytes.count {
            let count = Glibc.write(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done)
            if count < 0, errno == EINTR { continue }
            if count < 0 { throw .file(errno, "write", path: folder) }
            done += count
        }
    }

    func sync() throws(DownloadError) {
        guard fdatasync(descriptor) == 0 else { throw .file(errno, "fdatasync", path: folder.path) }
    }

    /// A name that is taken fails with `.exists`, and so does one whose partial file somebody has.
    func link(as name: String) throws(DownloadError) {
        if folder.has(FileNaming.partial(name)) {
            throw .fileFailed(.exists, path: FileNaming.path(folder.path, FileNaming.partial(name)))
        }
        guard dlm_link_unnamed(descriptor, folder.descriptor, name) == 0 else {
            throw .file(errno, "link", path: FileNaming.path(folder.path, name))
        }
    }
}
