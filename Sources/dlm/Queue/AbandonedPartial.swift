import CSystem
import DownloadKit
import Glibc

/// The partial file of a worker that had leased the same URL before, and no longer writes the file.
enum AbandonedPartial {
    /// Deletes a partial file unless a process has its lock.
    /// - Returns: whether the file is gone.
    static func remove(_ path: String) -> Bool {
        guard path.hasSuffix(".part") else { return false }
        // NFS gives an exclusive lock only to files that are open for writing (flock(2)).
        let descriptor = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return errno == ENOENT }
        defer { close(descriptor) }
        guard dlm_lock_exclusive(descriptor) == 0 else { return false }
        // Another worker may have deleted the file meanwhile, and made a new one.
        var (locked, named) = (stat(), stat())
        guard fstat(descriptor, &locked) == 0, lstat(path, &named) == 0 else { return errno == ENOENT }
        guard locked.st_ino == named.st_ino, locked.st_dev == named.st_dev else { return false }
        return unlink(path) == 0
    }
}
