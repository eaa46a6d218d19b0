import DownloadCore
import GRDB
import Synchronization

/// The connection to the store, which is replaced if it can no longer be trusted.
final class StoreConnection: Sendable {
    /// Empty for a database in memory.
    let path: String
    private let time: any TimeSource
    private let notice: @Sendable (String) -> Void
    private let current: Mutex<DatabaseQueue>

    init(_ path: String, _ time: any TimeSource, _ notice: @escaping @Sendable (String) -> Void) throws(DownloadError) {
        self.path = path
        self.time = time
        self.notice = notice
        current = Mutex(try StoreFile.open(path, time, notice: notice))
    }

    var queue: DatabaseQueue { current.withLock(\.self) }

    /// Replaces the connection if the error shows that it cannot be trusted: the store is damaged, or a sync failed.
    /// After a failed sync, what SQLite keeps in memory may no longer be on disk.
    /// - Returns: Whether there is another connection than `failed` now.
    func replace(_ failed: DatabaseQueue, after error: any Error) throws -> Bool {
        try current.withLock { queue in
            if queue !== failed { return true }
            // A database in memory cannot be opened again.
            if path.isEmpty { return false }
            let isDamaged = StoreRescue.isDamage(error)
            let code = (error as? DatabaseError)?.extendedResultCode
            guard isDamaged || code == .SQLITE_IOERR_FSYNC || code == .SQLITE_IOERR_DIR_FSYNC else { return false }
            try? queue.close()
            queue = try StoreFile.open(path, time, after: isDamaged ? error : nil, notice: notice)
            return true
        }
    }
}
