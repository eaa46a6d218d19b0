import DownloadCore
import Foundation
import GRDB

/// The adding of a list's downloads as items. An item is a download in the table `item`, which needs less time to write
/// than a row of `download`. The downloads of a list share one row in the table `list`.
struct ItemAdding {
    let db: Database

    /// The fewest downloads that are added as items. A single download costs less as a row of `download`.
    private static let fewest = 2
    /// The number of rows that one statement inserts. With a statement for each row, a million lines took a quarter
    /// longer. `OR FAIL` saves a journal of the statement, which would take twice as long; the transaction undoes
    /// everything if a statement fails.
    private static let rowsAtOnce = 50

    /// Returns whether these downloads can be items.
    static func takes(_ run: AddedRun) -> Bool {
        run.urls.count >= fewest && !run.request.startsPaused && run.request.hooks == nil
    }

    /// Adds the downloads as one list, and returns the number of the first download. The other numbers follow it.
    /// - Parameter json: The value of the column `request`.
    func insert(_ run: AddedRun, _ json: String, session: String, at now: Int64) throws -> DownloadID {
        let (request, count) = (run.request, run.urls.count)
        let first = try takeNumbers(count)
        try db.cachedStatement(
            sql: """
                INSERT INTO list (session, priority, folder, askedName, created, request, first, last, queued)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            session, request.priority, request.destination.folder, request.destination.fileName, now, json, first,
            first + DownloadID(count) - 1, count,
        ])
        let list = db.lastInsertedRowID
        let segment = try ItemSegments(db: db).take(run.hashes)
        var index = 0
        for rows in [Self.rowsAtOnce, 1] where count - index >= rows {
            let values = Array(repeating: "(?, ?, ?, ?)", count: rows).joined(separator: ", ")
            let sql: String = "INSERT OR FAIL INTO item (id, list, hash, url) VALUES \(values)"
            var statement = try RowStatement(db, sql: sql)
            while count - index >= rows {
                for index in index..<index + rows {
                    statement.bind(first + DownloadID(index))
                    statement.bind(list)
                    statement.bind(segment.key(run.hashes[index]))
                    statement.bind(run.urls[index].string)
                }
                _ = try statement.execute()
                index += rows
            }
        }
        try EventBatch(kind: .added, state: .queued, session: session, time: now)
            .log((0..<count).map { first + DownloadID($0) }, db)
        return first
    }

    /// Takes numbers from the sequence that also numbers the rows of `download`. Returns the first number.
    private func takeNumbers(_ count: Int) throws -> DownloadID {
        let sequence = try db.cachedStatement(sql: "SELECT seq FROM sqlite_sequence WHERE name = 'download'")
        let last = try DownloadID.fetchOne(sequence)
        let statement = try db.cachedStatement(
            sql: last == nil
                ? "INSERT INTO sqlite_sequence (seq, name) VALUES (?, 'download')"
                : "UPDATE sqlite_sequence SET seq = ? WHERE name = 'download'")
        try statement.execute(arguments: [(last ?? 0) + DownloadID(count)])
        return (last ?? 0) + 1
    }

    /// Looks for items with the same URL, folder and requested name. Returns the newest such item for the index of each
    /// URL that has one.
    func find(_ run: AddedRun, _ coder: RequestCoder) throws -> [Int: StoredDownload] {
        let place = run.request.destination
        let hasAny = try db.cachedStatement(sql: "SELECT 1 FROM item LIMIT 1")
        if try Int.fetchOne(hasAny) == nil { return [:] }
        let statement = try db.cachedStatement(
            sql: """
                SELECT \(ItemRows.columns), place FROM (SELECT key AS place, value AS wanted FROM json_each(?))
                CROSS JOIN item INDEXED BY itemByHash ON item.hash = wanted CROSS JOIN list ON list.id = item.list
                LEFT JOIN done ON done.id = item.id
                WHERE done.isMoved IS NOT 1 AND list.folder = ? AND list.askedName IS ?
                """)
        var found: [Int: StoredDownload] = [:]
        for search in try ItemSegments(db: db).searches(run.hashes) {
            let keys = JSONWriter.text { json in
                json.array(search.places) { $0.value(search.segment.key(run.hashes[$1])) }
            }
            let rows = try Row.fetchCursor(statement, arguments: [keys, place.folder, place.fileName])
            while let row = try rows.next() {
                let index = search.places[row[RowReader.Column.allCases.count] as Int]
                let url: String = row[RowReader.Column.url.rawValue]
                guard url == run.urls[index].string else { continue }
                let download = try StoredDownload(row, coder: coder)
                if let other = found[index], other.record.id > download.record.id { continue }
                found[index] = download
            }
        }
        return found
    }
}
