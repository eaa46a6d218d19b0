import CSystem
import DownloadKit
import Glibc

/// The partial file of a worker that had leased the same URL before, and no longer writes the file.
enum AbandonedPartial {
    /// Deletes a partial file unless a process has its lock.
    /// - Returns: whether the file is gone.
    static func remove(_ path: String) -> Bool {
        guard path.hasSuffix(".part") else { return false }
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return errno == ENOENT }
        defer { close(descriptor) }
        guard dlm_lock_exclusive(descriptor) == 0 else { return false }
        return unlink(path) == 0
    }
}
