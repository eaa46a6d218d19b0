import CSystem
import DownloadKit
import Glibc

/// A watch on another process. A later process with the same id is not mistaken for it, because the watch uses a pidfd.
final class ProcessWatch: Sendable {
    /// The pidfd; -1 if the process has ended already or is in another PID namespace.
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

extension BackgroundSession {
    /// Waits until the process of a session has ended. Its lock is free then, or belongs to the next session already. If
    /// the process cannot be watched, waits until the lock is free.
    /// - Returns: false if the session still runs after `limit`.
    func waitForEnd(of process: ProcessWatch, within limit: Duration?) async throws -> Bool {
        let deadline = limit.map { time.now + $0 }
        while !(process.hasEnded ?? !isAlive) {
            if let deadline, time.now > deadline { return false }
            try await time.sleep(for: Self.pace)
        }
        return true
    }
}
