import CTestSupport
import Foundation

/// The locks that another process has while it writes to an SQLite database in WAL mode: one byte of the `-shm` file
/// (WAL_WRITE_LOCK, sqlite.org/walformat.html). If no process has the database open, the database as a whole is locked,
/// too.
package final class StoreLock: Sendable {
    private let log: Int32
    private let database: Int32

    package init(_ path: String) throws {
        log = open(path + "-shm", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        database = open(path, O_RDWR | O_CLOEXEC)
        guard log >= 0, database >= 0 else { throw SystemError("open \(path)") }
        // PENDING_BYTE and the bytes after it (sqlite.org/lockingv3.html). If readers have locks there, this lock
        // fails, which is fine.
        _ = dlmtest_lock(database, 0x4000_0000, 512, 0)
        guard dlmtest_lock(log, 120, 1, 1) == 0 else { throw SystemError("lock \(path)-shm") }
    }

    package func release() {
        close(log)
        close(database)
    }
}

/// The shared lock of a process that has a store open.
package final class StoreUse: Sendable {
    private let database: Int32

    package init(_ path: String) throws {
        database = open(path, O_RDWR | O_CLOEXEC)
        // SHARED_FIRST (sqlite.org/lockingv3.html).
        guard database >= 0, dlmtest_share(database, 0x4000_0002, 510) == 0 else { throw SystemError("lock \(path)") }
    }

    package func end() { close(database) }
}
