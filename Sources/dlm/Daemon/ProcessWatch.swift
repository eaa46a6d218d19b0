import CSystem
import Glibc

/// A watch on another process. A later process with the same id is not mistaken for it, because the watch uses a pidfd.
final class ProcessWatch: Sendable {
    /// The pidfd; -1 if pidfd_open(2) failed, for example because the process has ended already or is in another PID
    /// namespace.
    private let descriptor: Int32

    init(_ pid: pid_t) { descriptor = dlm_pidfd_open(pid) }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Whether the process has ended; nil if it cannot be watched.
    var hasEnded: Bool? {
        guard descriptor >= 0 else { return nil }
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&watched, 1, 0) > 0
    }
}
