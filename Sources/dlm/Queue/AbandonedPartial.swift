import CSystem
import DownloadKit
import Glibc

/// The partial file of a worker that had leased the same URL before, and no longer writes the file.
enum AbandonedPartial {
    /// Deletes a partial file that was made after the first lease of its URL (in seconds since 1970), unless a process
    /// has locked the file. An older file is not from a worker, and its owner may want to continue it.
    /// - Returns: whether the file is gone.
    static func remove(_ path: String, madeAfter time: Double) -> Bool {
        guard path.hasSuffix(".part") else { return false }
        // The file is opened for reading only. Otherwise the process that writes the file would believe that another
        // program writes to it, too.
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return errno == ENOENT }
        defer { close(descriptor) }
        guard dlm_lock_exclusive(descriptor) == 0 else { return false }
        // Another worker may have deleted the file meanwhile, and made a new one.
        guard let locked = FileStatus.of(descriptor: descriptor) else { return false }
        guard let named = FileStatus.of(path) else { return errno == ENOENT }
        guard locked.identity == named.identity, locked.device == named.device else { return false }
        // Without a time of birth, nothing proves that a worker made the file.
        guard let born = locked.identity.born, Double(born) / 1e9 > time else { return false }
        return unlink(path) == 0
    }
}
