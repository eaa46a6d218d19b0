import CSystem
import DownloadCore
import Foundation
import GRDB

/// The rescue of a damaged store. A new store takes its place, with all rows that can be read of the damaged one. The
/// damaged store is kept under a dated name.
struct StoreRescue {
    let path: String
    let time: any TimeSource

    /// The ends of the names of the log files of an SQLite database.
    private static let logs = ["-wal", "-shm"]
    /// The end of the name of the file that says what was rescued.
    private static let reportSuffix = ".txt"

    static func isDamage(_ error: any Error) -> Bool {
        (error as? DatabaseError).map { [.SQLITE_NOTADB, .SQLITE_CORRUPT].contains($0.resultCode) } ?? false
    }

    /// Replaces the damaged store by a new one, unless another process has done so meanwhile.
    /// - Throws: `error` if another process uses the damaged store, and `SQLITE_BUSY` if another process rescues it.
    /// - Returns: The text for the user; nil if another process has replaced the store.
    func run(because error: any Error) throws -> String? {
        guard let lock = try LockFile.acquire(path + ".rescue", time) else {
            throw DatabaseError(resultCode: .SQLITE_BUSY)
        }
        defer { lock.unlinkAndClose() }
        if StoreFile.isIntact(path) { return nil }
        if isUsedByOthers { throw error }
        let new = path + ".new"
        let rescued = try makeStore(at: new)
        let aside = path + Self.suffix(time.date)
        // The log files belong to the damaged store, so they must be gone before the new store has the name.
        for log in Self.logs where rename(path + log, aside + log) != 0 && errno != ENOENT {
            throw DatabaseError.system(.SQLITE_CANTOPEN)
        }
        // Some file systems cannot exchange names.
        let isExchanged = dlm_exchange_names(path, new) == 0
        guard isExchanged || rename(path, aside) == 0, rename(new, isExchanged ? aside : path) == 0 else {
            throw DatabaseError.system(.SQLITE_CANTOPEN)
        }
        let text =
            "\(path): the store was damaged; it is kept as \(aside), and \(rescued) of its downloads "
            + (rescued == 1 ? "was" : "were") + " rescued"
        // Without the report, only `dlm doctor` does not repeat the text.
        try? Data((text + "\n").utf8).write(to: URL(fileURLWithPath: aside + Self.reportSuffix))
        return text
    }

    private func remove(_ store: String) { for file in [""] + Self.logs { unlink(store + file) } }

    /// Whether another process has the store open. In WAL mode, each connection has a shared lock on the file.
    private var isUsedByOthers: Bool {
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        // The bytes that SQLite locks (sqlite.org/fileformat2.html, "The Lock-Byte Page").
        var lock = flock(
            l_type: Int16(F_WRLCK), l_whence: Int16(SEEK_SET), l_start: 1 << 30, l_len: 512, l_pid: 0)
        return fcntl(descriptor, F_GETLK, &lock) == 0 && lock.l_type != Int16(F_UNLCK)
    }

    /// Returns the end of the name of a damaged store, such as `.damaged-20261127-030000`.
    private static func suffix(_ date: Date) -> String {
        var (seconds, parts) = (time_t(date.timeIntervalSince1970), tm())
        localtime_r(&seconds, &parts)
        return ".damaged-\(parts.tm_year + 1900)\((parts.tm_mon + 1).padded(2))\(parts.tm_mday.padded(2))-"
            + parts.tm_hour.padded(2) + parts.tm_min.padded(2) + parts.tm_sec.padded(2)
    }

    /// Returns what earlier rescues of the store have said, the oldest first.
    static func reports(of path: String) -> [String] {
        let folder = (path as NSString).deletingLastPathComponent
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasPrefix(StoreFile.name + ".damaged-") && $0.hasSuffix(reportSuffix) }.sorted()
            .compactMap { try? String(contentsOfFile: FileNaming.path(folder, $0), encoding: .utf8) }
            .map { $0.trimmingCharacters(in: .newlines) }
    }

    // MARK: Rows

    /// Makes a store with the rows that can be read. Returns the number of its downloads.
    private func makeStore(at new: String) throws -> Int {
        let source = path + ".reading"
        defer { remove(source) }
        // An earlier rescue may have been killed.
        for file in ["", "-wal"] where access(path + file, F_OK) == 0 {
            unlink(source + file)
            try FileManager.default.copyItem(atPath: path + file, toPath: source + file)
        }
        remove(new)
        let queue = try StoreFile.make(new)
        let count = try queue.writeWithoutTransaction { db -> Int in
            if (try? attach(source, to: db)) == nil {
                try replaceFirstPage(of: source, by: new, db)
                guard (try? attach(source, to: db)) != nil else { return 0 }
            }
            defer { try? db.execute(sql: "DETACH old") }
            return try copyTables(db)
        }
        try queue.close()
        return count
    }

    private func attach(_ source: String, to db: Database) throws {
        try db.execute(sql: "ATTACH ? AS old", arguments: [source])
        do {
            _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM old.sqlite_master")
        } catch {
            try? db.execute(sql: "DETACH old")
            throw error
        }
    }

    /// Gives the file the first page of the new store. All stores that this program made at once have their tables at
    /// the same pages.
    private func replaceFirstPage(of source: String, by new: String, _ db: Database) throws {
        try db.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
        let size = StoreFile.pageSize
        var page = try Data(contentsOf: URL(fileURLWithPath: new)).prefix(size)
        guard page.count == size else { return }
        let old = try FileHandle(forUpdating: URL(fileURLWithPath: source))
        defer { try? old.close() }
        let pages = UInt32(truncatingIfNeeded: try old.seekToEnd() / UInt64(size))
        // The number of pages, and an empty list of free pages (sqlite.org/fileformat2.html, "The Database Header").
        for (place, number) in [(28, pages), (32, 0), (36, 0)] {
            withUnsafeBytes(of: number.bigEndian) { page.replaceSubrange(place..<place + 4, with: $0) }
        }
        try old.seek(toOffset: 0)
        try old.write(contentsOf: page)
    }

    /// The tables that are copied. Hooks are not copied, because their programs run at most once, and a damaged store may
    /// have hooks that have run.
    private static let tables = ["event", "request", "download", "detail", "intent", "knowledge"]

    /// Returns the number of downloads that were copied. Of their ranges, only durable ones are believed from now on. A
    /// download whose request was lost is forgotten, because its file proves itself when the URL is downloaded again.
    private func copyTables(_ db: Database) throws -> Int {
        var lost: [String: [ClosedRange<Int>]] = [:]
        for table in Self.tables {
            var rows = try TableCopy(db, table)
            try rows.copy()
            lost[table] = rows.lost
        }
        try db.execute(
            sql: """
                DELETE FROM main.download WHERE request NOT IN (SELECT id FROM main.request);
                DELETE FROM main.detail WHERE id NOT IN (SELECT id FROM main.download);
                UPDATE main.detail SET resume = json_remove(resume, '$.bootID') WHERE json_valid(resume);
                """)
        // Without a row of `detail`, a download that has ended would be queued again.
        for ids in lost["detail"] ?? [] {
            try db.execute(
                sql: """
                    INSERT OR IGNORE INTO main.detail (id, state, stateDetail, priority, received, isFinishing, updated)
                    SELECT download.id, 'paused', ?, request.priority, 0, 0, request.created
                    FROM main.download JOIN main.request ON request.id = download.request WHERE download.id BETWEEN ? AND ?
                    """,
                arguments: [try DownloadRow.detail(of: .paused(.user)), ids.lowerBound, ids.upperBound])
        }
        try db.execute(
            sql: """
                UPDATE main.request SET queued = (
                    SELECT count(*) FROM main.download
                    WHERE id BETWEEN first AND last AND request = main.request.id
                        AND NOT EXISTS (SELECT 1 FROM main.detail WHERE main.detail.id = main.download.id));
                DELETE FROM main.segment WHERE EXISTS (SELECT 1 FROM main.download);
                INSERT INTO main.segment (id, items) SELECT hash >> 40, count(*) FROM main.download GROUP BY 1;
                """)
        return try StoreCheck.count(in: db) ?? 0
    }
}

/// The copy of the readable rows of one table of the database `old`.
private struct TableCopy {
    private let db: Database
    private let table: String
    private let columns: String
    /// The numbers of the rows that could not be read.
    private(set) var lost: [ClosedRange<Int>] = []
    /// The number of statements that may still fail. It bounds the time for a table of which nothing can be read: with
    /// 20,000, a store whose first pages were overwritten took 53 s.
    private var patience = 2_000

    init(_ db: Database, _ table: String) throws {
        self.db = db
        self.table = table
        columns = try String.fetchAll(db, sql: "SELECT name FROM pragma_table_info(?)", arguments: [table])
            .joined(separator: ", ")
    }

    mutating func copy() throws {
        // The last row may be unreadable, too.
        let last = try? Int.fetchOne(db, sql: "SELECT coalesce(max(rowid), 0) FROM old.\(table)")
        try copy(1...max(1, last ?? 1 << 20))
        if last == nil { lost.append(1 << 20...Int.max) }
    }

    /// Copies rows by their numbers. If they cannot be read together, copies each half.
    /// - Throws: If the new store cannot be written.
    private mutating func copy(_ rows: ClosedRange<Int>) throws {
        guard patience > 0 else { return lost.append(rows) }
        do {
            try db.execute(
                sql: """
                    INSERT OR IGNORE INTO main.\(table) (\(columns))
                    SELECT \(columns) FROM old.\(table) WHERE rowid BETWEEN ? AND ?
                    """, arguments: [rows.lowerBound, rows.upperBound])
        } catch let error as DatabaseError {
            let unwritable: [ResultCode] = [.SQLITE_FULL, .SQLITE_IOERR_WRITE, .SQLITE_IOERR_FSYNC]
            if unwritable.contains(error.resultCode) || unwritable.contains(error.extendedResultCode) { throw error }
            patience -= 1
            if rows.count == 1 { return lost.append(rows) }
            let middle = rows.lowerBound + rows.count / 2
            try copy(rows.lowerBound...middle - 1)
            try copy(middle...rows.upperBound)
        }
    }
}
