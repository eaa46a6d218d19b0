import CSystem
import DownloadCore
import DownloadSystem
import Foundation

/// A file whose flock(2) shows that its owner is alive.
struct LockFile: Sendable {
    private let path: String
    private let descriptor: Int32

    /// Creates and locks the file. Returns nil if another process has the lock.
    static func acquire(_ path: String, _ time: any TimeSource = SystemTime()) throws(DownloadError) -> LockFile? {
        // A process that checks the lock takes a shared lock for microseconds. The file may also be unlinked before
        // it is locked. In both cases the loop tries again.
        let deadline = time.now + .seconds(1)
        while time.now < deadline {
            let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard descriptor >= 0 else { throw unusable(path, errno) }
            let lock = LockFile(path: path, descriptor: descriptor)
            let isLocked = lockExclusively(descriptor)
            if !isLocked, errno != EWOULDBLOCK {
                defer { close(descriptor) }
                throw unusable(path, errno)
            }
            if lock.isAtItsPath {
                if isLocked {
                    lock.writeProcessID()
                    return lock
                }
                if !lockShared(descriptor) {
                    close(descriptor)
                    return nil
                }
            }
            close(descriptor)
            time.block(for: .microseconds(100))
        }
        return nil
    }

    static func lockExclusively(_ descriptor: Int32) -> Bool { dlm_lock_exclusive(descriptor) == 0 }

    /// Returns whether a process has the lock. A missing file is not locked. A file that cannot be opened counts as
    /// locked.
    static func isHeld(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return errno != ENOENT && errno != ENOTDIR }
        defer { close(descriptor) }
        return !lockShared(descriptor)
    }

    /// Removes the file if no process has its lock. Only for a caller that has the folder's lock: two callers at once
    /// could unlink the file of a session that has just started.
    /// - Parameter before: Removes the other files of the dead session, while no session can take its place.
    static func removeIfFree(_ path: String, before: () -> Void) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        guard lockShared(descriptor), LockFile(path: path, descriptor: descriptor).isAtItsPath else { return }
        before()
        unlink(path)
    }

    /// Returns the process id that the owner wrote; nil if the file has no valid process id.
    static func processID(_ path: String) -> Int32? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var digits = [UInt8](repeating: 0, count: 16)
        let count = read(descriptor, &digits, digits.count)
        guard count > 0, digits[count - 1] == UInt8(ascii: "\n"),
            let text = String(validating: digits[..<(count - 1)], as: UTF8.self), let process = Int32(text), process > 0
        else { return nil }
        return process
    }

    /// Unlinks the file, and then releases the lock. In this order a process that waits for the lock finds that the
    /// file is gone, and creates its own file.
    func unlinkAndClose() {
        if isAtItsPath { unlink(path) }
        close(descriptor)
    }

    private static func lockShared(_ descriptor: Int32) -> Bool {
        while flock(descriptor, LOCK_SH | LOCK_NB) != 0 {
            if errno != EINTR { return false }
        }
        return true
    }

    private var isAtItsPath: Bool {
        var mine = stat()
        var named = stat()
        return fstat(descriptor, &mine) == 0 && lstat(path, &named) == 0
            && mine.st_ino == named.st_ino && mine.st_dev == named.st_dev
    }

    private func writeProcessID() {
        let text = "\(getpid())\n"
        if ftruncate(descriptor, 0) == 0 { _ = pwrite(descriptor, text, text.utf8.count, 0) }
    }

    private static func unusable(_ path: String, _ code: Int32) -> DownloadError {
        .sessionUnavailable(.storeUnreadable(path: path, message: String(cString: strerror(code))))
    }
}
