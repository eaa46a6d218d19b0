import DownloadCore
import DownloadSystem
import Foundation
import GRDB
import Synchronization

/// A check of a store. It does not create a store, and does not change the schema.
package enum StoreCheck {
    /// The time limit for the check of the pages.
    private static let patience = Duration.seconds(5)
    /// The time to wait for other processes, in seconds.
    private static let busyPatience = 2.0

    package static func health(ofStoreIn folder: String, _ time: any TimeSource = SystemTime()) -> StoreHealth {
        let path = FileNaming.path(folder, StoreFile.name)
        var health = StoreHealth(path: path)
        health.rescues = StoreRescue.reports(of: path)
        do {
            var information = stat()
            guard lstat(path, &information) == 0 else {
                if errno == ENOENT || errno == ENOTDIR { return health }
                throw DatabaseError.system(.SQLITE_CANTOPEN)
            }
            health.bytes = ["", "-wal"].reduce(0) { sum, suffix in
                stat(path + suffix, &information) == 0 ? sum + Int64(information.st_size) : sum
            }
            try StoreFile.requireRegular(path)
            try read(path, &health, time)
        } catch {
            health.error = StoreFailure(path: path, isOpening: true).error(error)
        }
        return health
    }

    /// Returns what earlier downloads have learned about a place. Nil if there is no store, or if it cannot be read.
    package static func knowledge<Knowledge: ServerKnowledge>(
        of place: String, inStoreIn folder: String
    ) -> Knowledge? {
        let path = FileNaming.path(folder, StoreFile.name)
        guard (try? StoreFile.requireRegular(path)) != nil, access(path, W_OK) == 0,
            let queue = try? DatabaseQueue(path: path)
        else { return nil }
        defer { try? queue.close() }
        return try? queue.inDatabase { try KnowledgeRows(db: $0).knowledge(of: place) }
    }

    private static func read(_ path: String, _ health: inout StoreHealth, _ time: any TimeSource) throws {
        // The store is opened for writing, because SQLite reads the log of a killed process only if it may write in the
        // folder.
        if access(path, W_OK) != 0 { throw DatabaseError.system(.SQLITE_READONLY) }
        var configuration = Configuration()
        configuration.label = "dlm.check"
        configuration.busyMode = .timeout(busyPatience)
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        defer { try? queue.close() }
        try queue.inDatabase { db in
            if let version = try Schema.known(in: db) { health.schema = version }
            let fault = try quickCheck(db, of: queue, time)
            health.isChecked = fault != nil
            if let fault, fault != "ok" { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: fault) }
            if health.schema != nil {
                health.downloads = try count(in: db)
                health.signers = try KnowledgeRows(db: db).all()
            }
        }
    }

    /// Returns the number of recorded downloads.
    static func count(in db: Database) throws -> Int? {
        try db.value(
            "SELECT (SELECT count(*) FROM main.download) - (SELECT count(*) FROM main.detail WHERE state = 'removed')")
    }

    /// Returns the first fault that SQLite finds, or `ok`. Returns nil if the check takes too long.
    private static func quickCheck(
        _ db: Database, of queue: DatabaseQueue, _ time: any TimeSource
    ) throws -> String? {
        let isOver = Atomic(false)
        time.schedule(after: patience, on: .global()) { [weak queue] in
            if !isOver.load(ordering: .sequentiallyConsistent) { queue?.interrupt() }
        }
        defer { isOver.store(true, ordering: .sequentiallyConsistent) }
        do {
            return try String.fetchOne(db, sql: "PRAGMA quick_check(1)")
        } catch DatabaseError.SQLITE_INTERRUPT {
            return nil
        }
    }
}
