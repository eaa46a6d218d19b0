import DownloadCore
import DownloadSystem
import Foundation
import GRDB

/// The file of the database.
enum StoreFile {
    static let name = "downloads.sqlite"

    /// The size of a page, in bytes. Twice SQLite's default takes half as many calls for a list of small files.
    static let pageSize = 8192

    /// The time to wait for other processes, in seconds.
    static let patience = 10

    /// Opens the database with the newest schema, in WAL mode, with file mode 0600. Replaces a damaged database.
    /// - Parameters:
    ///   - path: The path of the file. If it is empty, the database is in memory, and uses no file at all.
    ///   - damage: The error by which an earlier connection has noticed that the database is damaged.
    static func open(
        _ path: String, _ time: any TimeSource = SystemTime(), after damage: (any Error)? = nil,
        notice: (String) -> Void = { _ in }
    ) throws(DownloadError) -> DatabaseQueue {
        let deadline = time.now + .seconds(patience)
        var damage = damage
        var isRescued = false
        while true {
            do {
                if let damage, !isRescued {
                    if let text = try StoreRescue(path: path, time: time).run(because: damage) { notice(text) }
                    isRescued = true
                }
                return try make(path)
            } catch DatabaseError.SQLITE_BUSY where time.now < deadline {
                // Another process replaces the store. Or the change to WAL mode needs exclusive access to the file, and
                // fails at once, without waiting for the busy timeout.
                time.block(for: .milliseconds(2))
            } catch let error where damage == nil && StoreRescue.isDamage(error) {
                damage = error
            } catch {
                throw StoreFailure(path: path, isOpening: true).error(error)
            }
        }
    }

    /// Opens the database, or makes it.
    static func make(_ path: String) throws -> DatabaseQueue {
        // For SQLite, an empty path would mean a temporary file.
        if !path.isEmpty {
            try requireRegular(path)
            try makeAccessible(path)
        }
        let queue = try DatabaseQueue(path: path.isEmpty ? ":memory:" : path, configuration: configuration(path))
        try queue.writeWithoutTransaction(Schema.make)
        return queue
    }

    /// Returns whether the database can be opened and SQLite finds no fault in it.
    static func isIntact(_ path: String) -> Bool {
        guard let queue = try? make(path) else { return false }
        defer { try? queue.close() }
        return (try? queue.inDatabase { try String.fetchOne($0, sql: "PRAGMA quick_check(1)") }) == "ok"
    }

    /// Lets the owner of the store read and write it, whatever happened to its mode.
    private static func makeAccessible(_ path: String) throws {
        var information = stat()
        guard stat(path, &information) == 0, information.st_uid == geteuid(), information.st_mode & 0o600 != 0o600
        else { return }
        if chmod(path, 0o600) != 0 { throw DatabaseError.system(.SQLITE_PERM) }
    }

    private static func configuration(_ path: String) -> Configuration {
        var configuration = Configuration()
        configuration.label = "dlm.store"
        configuration.busyMode = .timeout(TimeInterval(patience))
        configuration.foreignKeysEnabled = false
        configuration.prepareDatabase { db in
            // By default, SQLite writes large sorts to temporary files.
            if path.isEmpty { return try db.execute(sql: "PRAGMA temp_store = MEMORY") }
            // A database of another program keeps its mode and its journal mode.
            try Schema.requireStore(db)
            try restrict(path)
            // The size of pages cannot change after the file was made.
            try db.execute(sql: "PRAGMA page_size = \(pageSize)")
            // `Configuration.journalMode` is not used, because it writes to the schema whenever the WAL is empty.
            guard try String.fetchOne(db, sql: "PRAGMA journal_mode = WAL") == "wal" else {
                throw DatabaseError(
                    resultCode: .SQLITE_CANTOPEN, message: "no write-ahead log on this file system")
            }
            try db.execute(sql: "PRAGMA synchronous = NORMAL")
        }
        return configuration
    }

    /// Throws if the path is not a regular file, or is a link that leads to no file. Must be called before the file is
    /// opened and its mode is changed, because both could harm a device.
    static func requireRegular(_ path: String) throws {
        var information = stat()
        if stat(path, &information) == 0 {
            if information.st_mode & S_IFMT != S_IFREG { throw Schema.Refusal.notRegular }
        } else if lstat(path, &information) == 0, information.st_mode & S_IFMT == S_IFLNK {
            // Only a link is refused here. A regular file may have been created by another process since the first
            // check.
            throw Schema.Refusal.danglingLink
        }
    }

    /// Restricts the database to its owner. Log files that are created later take their mode from the database. Those
    /// that exist, beside the file to which a link leads, are restricted, too.
    private static func restrict(_ path: String) throws {
        var information = stat()
        guard stat(path, &information) == 0, information.st_mode & 0o077 != 0 else { return }
        guard let resolved = realpath(path, nil) else { throw DatabaseError.system(.SQLITE_PERM) }
        defer { free(resolved) }
        let file = String(cString: resolved)
        guard chmod(file, 0o600) == 0 else { throw DatabaseError.system(.SQLITE_PERM) }
        // Another process that closes the store deletes its log files.
        for log in ["-wal", "-shm"] where chmod(file + log, 0o600) != 0 && errno != ENOENT {
            throw DatabaseError.system(.SQLITE_PERM)
        }
    }
}
