import DownloadKit
import Foundation
import Glibc

/// `daemon.log` in the state folder: the messages of a background session without a terminal.
struct DaemonLogFile {
    static let largest: Int64 = 1 << 20

    let path: String
    private let folder: String

    init(stateFolder: String) {
        folder = stateFolder
        path = FileNaming.path(stateFolder, "daemon.log")
    }

    /// Opens the log for appending, with mode 0600 whatever the umask is. A symbolic link or a device in its place is
    /// refused.
    func open() throws(DownloadError) -> Int32 {
        try PrivateFolder.make(folder)
        // Without O_NONBLOCK, open(2) would wait for a reader of a pipe in its place.
        let flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        let descriptor = Glibc.open(path, flags, 0o600)
        guard descriptor >= 0 else { throw unusable(String(cString: strerror(errno))) }
        var information = stat()
        guard fstat(descriptor, &information) == 0, information.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw unusable("not a file")
        }
        if information.st_mode & 0o777 != 0o600 { fchmod(descriptor, 0o600) }
        return descriptor
    }

    /// Begins a new log if the log is this process's standard error and has grown too large. The old log is kept as
    /// `daemon.log.1`. Only the session that has the lock may call this method.
    func rotateIfLarge() {
        guard let mine = FileStatus.of(descriptor: STDERR_FILENO), mine.isRegular, mine.size > Self.largest,
            FileStatus.leads(path, to: STDERR_FILENO), rename(path, path + ".1") == 0, let descriptor = try? open()
        else { return }
        dup2(descriptor, STDERR_FILENO)
        dup2(descriptor, STDOUT_FILENO)
        close(descriptor)
    }

    private func unusable(_ why: String) -> DownloadError {
        .sessionUnavailable(.startFailed(message: "\(path): \(why); move it away"))
    }
}
