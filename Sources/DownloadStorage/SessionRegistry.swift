import DownloadCore
import Foundation
import Synchronization

/// Which sessions live: each holds an exclusive flock(2) on `sessions/<identifier>.lock`, which the kernel releases
/// however its process ends.
///
/// Questions take a shared lock, so that they never disturb each other. A lock file is unlinked by its owner, or by
/// whoever holds the folder's lock and found the file's free.
package final class SessionRegistry: Sendable {
    private let folder: String
    private let time: any TimeSource
    private let held = Mutex<[String: LockFile]>([:])

    /// - Parameter stateFolder: `sessions/` is made in it when the first session registers.
    package init(stateFolder: String, time: any TimeSource = SystemTime()) {
        self.time = time
        folder = FileNaming.path(stateFolder, "sessions")
    }

    deinit {
        for lock in held.withLock(\.self).values { lock.unlinkAndClose() }
    }

    /// Makes `identifier` a live session until ``unregister(_:)`` or the end of the process. To be called before the
    /// store hears of the session.
    /// - Returns: false when a live session has this identifier.
    package func register(_ identifier: String) throws(DownloadError) -> Bool {
        guard let path = path(of: identifier) else {
            throw .unexpected("\(identifier): not usable as the name of a session")
        }
        try PrivateFolder.make(folder)
        try PrivateFolder.secure(folder)
        removeStale()
        guard let lock = try LockFile.acquire(path, time) else { return false }
        held.withLock { $0[identifier] = lock }
        return true
    }

    package func unregister(_ identifier: String) {
        held.withLock { $0.removeValue(forKey: identifier) }?.unlinkAndClose()
    }

    /// Whether the process of this session lives; when that cannot be found out it does, for a download must not be
    /// taken from a live one.
    package func isAlive(_ identifier: String) -> Bool {
        if held.withLock({ $0[identifier] != nil }) { return true }
        guard let path = path(of: identifier) else { return false }
        return LockFile.isHeld(path)
    }

    /// Those of this process among them; sorted.
    package func liveSessions() -> [String] {
        lockFiles.map { String($0.dropLast(Self.suffix.count)) }.filter(isAlive).sorted()
    }

    /// The process of a live session, as it says itself; nil when that cannot be read.
    package func pid(of identifier: String) -> Int32? {
        guard isAlive(identifier), let path = path(of: identifier) else { return nil }
        return LockFile.processID(path)
    }

    /// What there is of sessions, dead ones among them; sorted.
    package func traces() -> [SessionTrace] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let sockets = Set(names.filter { $0.hasSuffix(".sock") && !$0.hasPrefix(".") }.map { $0.dropLast(5) })
        let locks = lockFiles.map { $0.dropLast(Self.suffix.count) }
        return sockets.union(locks).sorted().map { name in
            let identifier = String(name)
            return SessionTrace(
                identifier: identifier, isAlive: isAlive(identifier), pid: pid(of: identifier),
                hasSocket: sockets.contains(name))
        }
    }

    /// Unlinks what dead sessions left; one process at a time.
    private func removeStale() {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        guard LockFile.lockExclusively(descriptor) else { return }
        for name in lockFiles {
            let path = FileNaming.path(folder, name)
            LockFile.removeIfFree(path) {
                // At that of a background session a service manager may listen; the next session replaces it.
                if SessionIdentifier.isForeground(name) { unlink(path.dropLast(Self.suffix.count) + ".sock") }
            }
        }
    }

    /// The names that ``path(of:)`` can have given.
    private var lockFiles: [String] {
        let names = try? FileManager.default.contentsOfDirectory(atPath: folder)
        return names?.filter { $0.hasSuffix(Self.suffix) && !$0.hasPrefix(".") } ?? []
    }

    private static let suffix = ".lock"

    /// Nil when the identifier is no file name: nobody can have registered it.
    private func path(of identifier: String) -> String? {
        guard !identifier.isEmpty, !identifier.hasPrefix("."), identifier.utf8.count <= 200,
            !identifier.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 == 0 })
        else { return nil }
        return FileNaming.path(folder, identifier + Self.suffix)
    }
}
