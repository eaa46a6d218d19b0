import DownloadCore
import Foundation
import GRDB

/// Opens the database file.
enum StoreFile {
    static let name = "downloads.sqlite"

    /// Seconds to wait for other processes.
    static let patience = 10

    /// The newest schema, WAL, mode 0600.
    static func open(_ path: String, _ time: any TimeSource = SystemTime()) throws(DownloadError) -> DatabaseQueue {
        let deadline = time.now + .seconds(patience)
        while true {
            do {
                try requireRegular(path)
                let queue = try DatabaseQueue(path: path, configuration: configuration(path))
                try queue.writeWithoutTransaction(Migrations.run)
                return queue
            } catch DatabaseError.SQLITE_BUSY where time.now < deadline {
                // The change to WAL needs the file alone and does not wait for the busy timeout.
                time.block(for: .milliseconds(2))
            } catch {
                throw StoreFailure(path: path, isOpening: true).error(error)
            }
        }
    }

    private static func configuration(_ path: String) -> Configuration {
        var configuration = Configuration()
        configuration.label = "dlm.store"
        configuration.busyMode = .timeout(TimeInterval(patience))
        configuration.foreignKeysEnabled = false
        configuration.prepareDatabase { db in
            try restrict(path)
            // Not through Configuration.journalMode: that writes to the schema whenever the WAL is empty.
            guard try String.fetchOne(db, sql: "PRAGMA journal_mode = WAL") == "wal" else {
                throw DatabaseError(
                    resultCode: .SQLITE_CANTOPEN, message: "no write-ahead log on this file system")
            }
            try db.execute(sql: "PRAGMA synchronous = NORMAL")
        }
        return configuration
    }

    /// Nothing else is opened, nor its mode changed: a device would be harmed.
    static func requireRegular(_ path: String) throws {
        var information = stat()
        if stat(path, &information) == 0 {
            if information.st_mode & S_IFMT != S_IFREG { throw Migrations.Refusal.notRegular }
        } else if lstat(path, &information) == 0, information.st_mode & S_IFMT == S_IFLNK {
            // And not a file that another process has made since.
            throw Migrations.Refusal.danglingLink
        }
    }

    /// Before the log files are made: they take their mode from the database.
    private static func restrict(_ path: String) throws {
        var information = stat()
        guard stat(path, &information) == 0, information.st_mode & 0o077 != 0 else { return }
        guard chmod(path, 0o600) == 0 else {
            throw DatabaseError(resultCode: .SQLITE_PERM, message: String(cString: strerror(errno)))
        }
    }
}
