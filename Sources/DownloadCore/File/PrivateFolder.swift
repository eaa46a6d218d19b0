import Foundation

/// Folders that only their user may enter.
package enum PrivateFolder {
    /// Makes `path` and its missing parents with mode 0700; one that is there already is left as it is.
    package static func make(_ path: String) throws(DownloadError) {
        if mkdir(path, 0o700) == 0 { return }
        let failure = errno
        switch failure {
        case EEXIST where isFolder(path): return
        case EEXIST: throw unusable(path, "is not a folder")
        case ENOENT:
            let parent = (path as NSString).deletingLastPathComponent
            guard !parent.isEmpty, parent != path else { throw unusable(path, message(failure)) }
            try make(parent)
            if mkdir(path, 0o700) != 0, errno != EEXIST { throw unusable(path, message(errno)) }
        default: throw unusable(path, message(failure))
        }
    }

    private static func isFolder(_ path: String) -> Bool {
        var information = stat()
        return stat(path, &information) == 0 && information.st_mode & S_IFMT == S_IFDIR
    }

    private static func message(_ code: Int32) -> String { String(cString: strerror(code)) }

    private static func unusable(_ path: String, _ why: String) -> DownloadError {
        .sessionUnavailable(
            .storeUnreadable(
                path: path, message: "\(why); set XDG_STATE_HOME to a folder you can write to"))
    }
}
