import CSystem
import Glibc

/// Another process, told from a later one with the same number.
final class ProcessWatch: Sendable {
    /// -1 where the kernel cannot say, or the process has gone already.
    private let descriptor: Int32

    init(_ pid: pid_t) { descriptor = dlm_pidfd_open(pid) }

    deinit { if descriptor >= 0 { close(descriptor) } }

    var hasEnded: Bool {
        guard descriptor >= 0 else { return true }
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&watched, 1, 0) > 0
    }
}
