import DownloadCore
import Foundation
import GRDB

/// The rescue of a damaged store. The store is moved aside under a dated name, and what can be read of it is copied into a
/// new store. Nothing else is lost with it: the partial files describe themselves.
struct StoreRescue {
    let path: String
    let time: any TimeSource

    /// The files of an SQLite database.
    private static let files = ["", "-wal", "-shm"]
    /// The end of the name of the file that says what was rescued.
    private static let reportSuffix = ".txt"

    static func isDamage(_ error: any Error) -> Bool {
        (error as? DatabaseError).map { [.SQLITE_NOTADB, .SQLITE_CORRUPT].contains($0.resultCode) } ?? false
    }

    /// Replaces the damaged store by a new one, unless another process has done so meanwhile.
    /// - Throws: `error` if another process uses the damaged store.
    /// - Returns: The text for the user; nil if another process has replaced the store.
    func run(because error: any Error) throws -> String? {
        guard let lock = try LockFile.acquire(path + ".rescue", time) else { throw error }
        defer { lock.unlinkAndClose() }
        if StoreFile.isIntact(path) { return nil }
        if isUsedByOthers { throw error }
        let aside = path + Self.suffix(time.date)
        for file in Self.files where rename(path + file, aside + file) != 0 && errno != ENOENT {
            throw DatabaseError(resultCode: .SQLITE_CANTOPEN, message: String(cString: strerror(errno)))
        }
        let queue = try StoreFile.make(path)
        defer { try? queue.close() }
        let rescued = copy(from: aside, into: queue)
        let text =
            "\(path): the store was damaged; it is kept as \(aside), and \(rescued) of its downloads "
            + (rescued == 1 ? "was" : "were") + " rescued"
        try? Data((text + "\n").utf8).write(to: URL(fileURLWithPath: aside + Self.reportSuffix))
        return text
    }

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
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return ".damaged-\(parts.tm_year + 1900)\(two(parts.tm_mon + 1))\(two(parts.tm_mday))-"
            + two(parts.tm_hour) + two(parts.tm_min) + two(parts.tm_sec)
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

    /// Copies the rows that can be read. Returns how many downloads they are.
    private func copy(from aside: String, into queue: DatabaseQueue) -> Int {
        let source = path + ".reading"
        defer { for file in Self.files { unlink(source + file) } }
        for file in Self.files.prefix(2) {
            unlink(source + file)
            try? FileManager.default.copyItem(atPath: aside + file, toPath: source + file)
        }
        let count = try? queue.writeWithoutTransaction { db -> Int in
            var isAttached = (try? attach(source, to: db)) != nil
            if !isAttached, (try? replaceFirstPage(of: source, db)) != nil {
                isAttached = (try? attach(source, to: db)) != nil
            }
            guard isAttached else { return 0 }
            defer { try? db.execute(sql: "DETACH old") }
            return try copyTables(db)
        }
        return count ?? 0
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
    private func replaceFirstPage(of source: String, _ db: Database) throws {
        try db.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
        let new = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        defer { try? new.close() }
        let size = try Int.fetchOne(db, sql: "PRAGMA page_size") ?? 4096
        guard var page = try new.read(upToCount: size), page.count == size else { return }
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

    /// The tables that are copied. Hooks are not: their programs run at most once, and a damaged store may have hooks that
    /// have run.
    private static let tables = ["event", "download", "intent", "list", "item", "done", "itemIntent"]

    /// Returns the number of downloads that were copied. Of their ranges, only durable ones are believed from now on.
    private func copyTables(_ db: Database) throws -> Int {
        for table in Self.tables {
            var rows = TableCopy(db, table)
            rows.copy()
        }
        try db.execute(
            sql: """
                UPDATE main.download SET resume = json_remove(resume, '$.bootID') WHERE json_valid(resume);
                DELETE FROM main.itemSegment WHERE EXISTS (SELECT 1 FROM main.item);
                INSERT INTO main.itemSegment (id, items) SELECT hash >> 40, count(*) FROM main.item GROUP BY 1;
                """)
        return try StoreCheck.count(in: db) ?? 0
    }
}

/// The copy of the readable rows of one table of the database `old`.
private struct TableCopy {
    private let db: Database
    private let table: String
    private let columns: String
    /// The number of statements that may still fail. It bounds the time for a table of which nothing can be read.
    private var patience = 20_000

    init(_ db: Database, _ table: String) {
        self.db = db
        self.table = table
        let names = (try? String.fetchAll(db, sql: "SELECT name FROM pragma_table_info(?)", arguments: [table])) ?? []
        columns = names.joined(separator: ", ")
    }

    mutating func copy() {
        let last = try? Int.fetchOne(db, sql: "SELECT max(rowid) FROM old.\(table)")
        copy(1...max(1, last ?? 1 << 20))
    }

    /// Copies rows by their numbers. If they cannot be read together, copies each half.
    private mutating func copy(_ rows: ClosedRange<Int>) {
        guard patience > 0 else { return }
        do {
            try db.execute(
                sql: """
                    INSERT OR IGNORE INTO main.\(table) (\(columns))
                    SELECT \(columns) FROM old.\(table) WHERE rowid BETWEEN ? AND ?
                    """, arguments: [rows.lowerBound, rows.upperBound])
        } catch {
            patience -= 1
            if rows.count == 1 { return }
            let middle = rows.lowerBound + rows.count / 2
            copy(rows.lowerBound...middle - 1)
            copy(middle...rows.upperBound)
        }
    }
}
