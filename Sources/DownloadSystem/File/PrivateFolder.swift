import DownloadCore
import Foundation

/// Folders that only their user may enter.
package enum PrivateFolder {
    /// Makes `path` and its missing parents with mode 0700. A folder that exists keeps its mode.
    package static func make(_ path: String) throws(DownloadError) {
        if mkdir(path, 0o700) == 0 { return FileStatus.syncParent(of: path) }
        let failure = errno
        switch failure {
        case EEXIST where FileStatus.isFolder(path): return
        case EEXIST: throw unusable(path, "is not a folder")
        case ENOENT:
            let parent = (path as NSString).deletingLastPathComponent
            guard !parent.isEmpty, parent != path else { throw unusable(path, message(failure)) }
            try make(parent)
            if mkdir(path, 0o700) != 0, errno != EEXIST { throw unusable(path, message(errno)) }
            FileStatus.syncParent(of: path)
        default: throw unusable(path, message(failure))
        }
    }

    /// Throws an error if the folder belongs to another user. Otherwise sets the mode of the folder to 0700.
    package static func secure(_ path: String) throws(DownloadError) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unusable(path, message(errno)) }
        defer { close(descriptor) }
        var information = stat()
        guard fstat(descriptor, &information) == 0 else { throw unusable(path, message(errno)) }
        guard information.st_uid == geteuid() else {
            throw unusable(
                path, "belongs to another user (uid \(information.st_uid); this process has uid \(geteuid()))")
        }
        guard information.st_mode & 0o7777 != 0o700 else { return }
        guard fchmod(descriptor, 0o700) == 0 else {
            throw unusable(path, "others may enter it, and its mode cannot be changed: \(message(errno))")
        }
    }

    private static func message(_ code: Int32) -> String { String(cString: strerror(code)) }

    private static func unusable(_ path: String, _ why: String) -> DownloadError {
        .sessionUnavailable(
            .storeUnreadable(path: path, message: "\(why); set XDG_STATE_HOME to a folder you can write to"))
    }
}
