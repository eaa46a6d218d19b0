import DownloadCore
import DownloadSystem
import Foundation
import Synchronization

/// The live sessions of a state folder. Each session has an exclusive flock(2) on `sessions/<identifier>.lock`, which
/// the kernel releases however the process ends.
///
/// Checks take a shared lock, so that they never disturb each other. A lock file is unlinked by its owner, or by a
/// process that has the folder's lock and found the lock file free.
package final class SessionRegistry: Sendable {
    private let folder: String
    private let time: any TimeSource
    private let held = Mutex<[String: LockFile]>([:])

    /// - Parameter stateFolder: the folder in which `sessions/` is created when the first session registers.
    package init(stateFolder: String, time: any TimeSource = SystemTime()) {
        self.time = time
        folder = FileNaming.path(stateFolder, "sessions")
    }

    deinit {
        for lock in held.withLock(\.self).values { lock.unlinkAndClose() }
    }

    /// Makes `identifier` a live session until ``unregister(_:)`` or the end of the process. Must be called before
    /// the store learns of the session.
    /// - Returns: false if a live session has this identifier.
    package func register(_ identifier: String) throws(DownloadError) -> Bool {
        guard let path = path(of: identifier) else {
            throw .unexpected("\(identifier): cannot be used as the name of a session")
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

    /// Returns whether the process of this session is alive. If the lock file cannot be opened, the result is true,
    /// because a download must not be taken from a live session.
    package func isAlive(_ identifier: String) -> Bool {
        if held.withLock({ $0[identifier] != nil }) { return true }
        guard let path = path(of: identifier) else { return false }
        return LockFile.isHeld(path)
    }

    /// Returns the identifiers of all live sessions, including those of this process; sorted.
    package func liveSessions() -> [String] {
        identifiers(of: ".lock").filter(isAlive).sorted()
    }

    /// Returns the process id of a live session, as the session itself wrote it; nil if the id cannot be read.
    package func pid(of identifier: String) -> Int32? {
        guard isAlive(identifier), let path = path(of: identifier) else { return nil }
        return LockFile.processID(path)
    }

    /// Returns the sessions, live and dead, that have a socket or a lock file in the folder; sorted.
    package func traces() -> [SessionTrace] {
        let sockets = Set(identifiers(of: ".sock"))
        return sockets.union(identifiers(of: ".lock")).sorted().map { identifier in
            SessionTrace(
                identifier: identifier, isAlive: isAlive(identifier), pid: pid(of: identifier),
                hasSocket: sockets.contains(identifier))
        }
    }

    /// Unlinks the files of dead sessions. Only one process does this at a time.
    private func removeStale() {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        guard LockFile.lockExclusively(descriptor) else { return }
        for identifier in identifiers(of: ".lock") {
            let path = FileNaming.path(folder, identifier)
            LockFile.removeIfFree(path + ".lock") {
                // Only sockets of foreground sessions are unlinked. The socket of a background session stays, because a
                // service manager may listen on it. If none does, the next background session replaces the socket.
                if SessionIdentifier.isForeground(identifier) { unlink(path + ".sock") }
            }
        }
    }

    private func identifiers(of suffix: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasSuffix(suffix) && !$0.hasPrefix(".") }.map { String($0.dropLast(suffix.count)) }
    }

    /// Returns the path of the session's lock file. Returns nil if the identifier cannot be a file name; no session can
    /// have registered with such an identifier.
    private func path(of identifier: String) -> String? {
        guard !identifier.isEmpty, !identifier.hasPrefix("."), identifier.utf8.count <= 200,
            !identifier.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 == 0 })
        else { return nil }
        return FileNaming.path(folder, identifier + ".lock")
    }
}
