import DownloadCore
import DownloadSystem
import Glibc

/// A listening Unix socket, which this process or systemd has opened.
struct UnixListener {
    let descriptor: Int32
    /// The file of the socket; nil for an adopted socket, whose file its creator unlinks.
    private let file: (path: SocketPath, status: FileStatus.Info)?

    /// The most connections that wait to be accepted. The queue is long so that no client is refused while the process
    /// is suspended (SIGSTOP).
    private static let backlog: Int32 = 4096

    /// Creates the socket of a session. The caller has the session's lock, so a socket at the same path was left by a
    /// dead session and is replaced.
    static func bind(_ location: SessionLocation) throws(DownloadError) -> UnixListener {
        let path = try location.reach()
        try removeStale(path, location)
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw location.unusable(errno, "cannot make a socket for") }
        // The file gets the mode of the descriptor, so other users can never open it, not even for a moment.
        guard fchmod(descriptor, 0o600) == 0, bind(descriptor, to: path.text), chmod(path.text, 0o600) == 0,
            Glibc.listen(descriptor, backlog) == 0, let status = FileStatus.of(path.text)
        else {
            let code = errno
            close(descriptor)
            throw location.unusable(code, "cannot listen on")
        }
        return UnixListener(descriptor: descriptor, file: (path, status))
    }

    /// Adopts a listening Unix stream socket (`LISTEN_FDS` of systemd), which the caller has checked.
    static func adopt(_ descriptor: Int32) -> UnixListener { UnixListener(descriptor: descriptor, file: nil) }

    /// Restores the long queue of connections, because the event loop has set a shorter one.
    func restoreBacklog() { _ = Glibc.listen(descriptor, Self.backlog) }

    /// Unlinks the socket file if it is still the one that `bind` created.
    func unlinkFile() {
        guard let file, let found = FileStatus.of(file.path.text), found.identity == file.status.identity,
            found.device == file.status.device
        else { return }
        unlink(file.path.text)
    }

    private static func removeStale(_ path: SocketPath, _ location: SessionLocation) throws(DownloadError) {
        var information = stat()
        guard lstat(path.text, &information) == 0 else { return }
        guard information.st_mode & S_IFMT == S_IFSOCK else {
            throw .sessionUnavailable(
                .badExchange(location.identifier, message: "\(location.socketPath) is not a socket; move it away"))
        }
        if unlink(path.text) != 0, errno != ENOENT { throw location.unusable(errno, "cannot remove") }
    }

    private static func bind(_ descriptor: Int32, to path: String) -> Bool {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { room in
            room.copyBytes(from: path.utf8.prefix(SessionLocation.longestPath))
        }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }
}
