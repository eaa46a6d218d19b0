import CTestSupport
import Foundation

/// The lock of another process that writes to an SQLite database in WAL mode. It is one byte of the `-shm` file
/// (WAL_WRITE_LOCK, sqlite.org/walformat.html), and the whole database while no process has it open.
package final class StoreLock: Sendable {
    private let log: Int32
    private let database: Int32

    package init(_ path: String) throws {
        log = open(path + "-shm", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        database = open(path, O_RDWR | O_CLOEXEC)
        guard log >= 0, database >= 0 else { throw SystemError("open \(path)") }
        // PENDING_BYTE and the bytes after it (sqlite.org/lockingv3.html). The lock stays while there are readers.
        _ = dlmtest_lock(database, 0x4000_0000, 512, 0)
        guard dlmtest_lock(log, 120, 1, 1) == 0 else { throw SystemError("lock \(path)-shm") }
    }

    package func release() {
        close(log)
        close(database)
    }
}
