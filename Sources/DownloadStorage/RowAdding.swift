import DownloadCore
import Foundation
import GRDB

/// The adding of downloads. To be fast for lists of a million URLs, one statement looks for many existing downloads, and one
/// statement inserts many rows.
extension OwnedRows {
    /// The number of rows that one statement inserts. With a statement for each row, a million lines took a quarter
    /// longer. `OR FAIL` saves a journal of the statement, which would take twice as long; the transaction undoes
    /// everything if a statement fails.
    private static let rowsAtOnce = 50

    /// Adds the downloads of a run, or adopts or joins those that exist.
    mutating func add(_ run: AddedRun, to added: inout [AddedDownload]) throws {
        var found = try find(run)
        // The body of a request is not stored, so the store cannot know whether a running download sends the same body.
        // A request with a body, or with another method than GET, therefore joins no running download.
        if !run.request.isPlain { found = found.filter { isFree($0.value) } }
        var id = try insert(found.isEmpty ? run : run.filter { found[$0] == nil })
        var like: DownloadEntry?
        for (index, url) in run.urls.enumerated() {
            if let known = found[index] {
                added.append(try adopt(known, for: run.run.request(for: url)))
                continue
            }
            let entry = run.run.entry(adding: url, like: like, id: id, to: session, at: now)
            if like?.origin != entry.origin { like = entry }
            added.append(AddedDownload(kind: .inserted, entry: entry))
            id = id.advanced(by: 1)
        }
    }

    /// Gives a known download to the session, or joins it if a live session works on it.
    private mutating func adopt(_ known: StoredDownload, for request: DownloadRequest) throws -> AddedDownload {
        if !isFree(known) { return AddedDownload(kind: .joined, record: known.record) }
        var record = known.record
        record.request = request
        if known.damage == nil { record.request.keepParts(of: known.record) }
        let handed = try hand(record, isDamaged: known.damage != nil, holdsBack: request.startsPaused)
        return AddedDownload(kind: .adopted, record: handed)
    }

    /// Looks for downloads with the same URL, folder and requested name. Returns the newest such download for the index
    /// of each URL that has one.
    private func find(_ run: AddedRun) throws -> [Int: StoredDownload] {
        let place = run.request.destination
        if try db.row("SELECT 1 FROM download LIMIT 1") == nil { return [:] }
        let statement = try db.cachedStatement(
            sql: """
                SELECT \(StoredColumns.all), place FROM (SELECT key AS place, value AS wanted FROM json_each(?))
                CROSS JOIN download INDEXED BY downloadByHash ON download.hash = wanted
                CROSS JOIN request ON request.id = download.request LEFT JOIN detail ON detail.id = download.id
                WHERE detail.state IS NOT 'removed' AND request.folder = ? AND request.askedName IS ?
                """)
        var found: [Int: StoredDownload] = [:]
        for search in try HashSegments(db: db).searches(run.hashes) {
            let keys = JSONWriter.text { json in
                json.array(search.places) { $0.value(URLHash.key(run.hashes[$1], in: search.segment)) }
            }
            let rows = try Row.fetchCursor(statement, arguments: [keys, place.folder, place.fileName])
            while let row = try rows.next() {
                let index = search.places[row[RowReader.Column.allCases.count] as Int]
                guard String.fromDatabaseValue(row[RowReader.Column.url.rawValue]) == run.urls[index].string else {
                    continue
                }
                let download = try StoredDownload(row, coder: coder)
                if let other = found[index], other.record.id > download.record.id { continue }
                found[index] = download
            }
        }
        return found
    }

    /// Inserts the downloads with one `request`, and returns the number of the first one. The other numbers follow it.
    private func insert(_ run: AddedRun) throws -> DownloadID {
        let (request, count, time) = (run.request, run.urls.count, DownloadRow.milliseconds(now))
        if count == 0 { return 0 }
        // The insertions advance the sequence.
        let last: DownloadID? = try db.value("SELECT seq FROM sqlite_sequence WHERE name = 'download'")
        let first = (last ?? 0).advanced(by: 1)
        try db.run(
            """
            INSERT INTO request (session, priority, folder, askedName, created, document, first, last, queued)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                session, request.priority, request.destination.folder, request.destination.fileName, time,
                coder.encode(request), first, first.advanced(by: count - 1), count,
            ])
        let row = db.lastInsertedRowID
        let segment = try HashSegments(db: db).take(run.hashes)
        var index = 0
        for rows in [Self.rowsAtOnce, 1] where count - index >= rows {
            let values = Array(repeating: "(?, ?, ?, ?)", count: rows).joined(separator: ", ")
            let sql: String = "INSERT OR FAIL INTO download (id, request, hash, url) VALUES \(values)"
            var statement = try RowStatement(db, sql: sql)
            while count - index >= rows {
                for index in index..<index + rows {
                    statement.bind(first.advanced(by: index).rawValue)
                    statement.bind(row)
                    statement.bind(URLHash.key(run.hashes[index], in: segment))
                    statement.bind(run.urls[index].string)
                }
                _ = try statement.execute()
                index += rows
            }
        }
        let ids = (0..<count).map(first.advanced(by:))
        if request.startsPaused { try hold(ids) }
        if count == 1 || request.startsPaused {
            try EventLog(db: db).note(.added, of: ids, at: time)
        } else {
            try EventBatch(kind: .added, state: .queued, session: session, time: time).log(ids, db)
        }
        return first
    }

    /// Records that new downloads are paused.
    private func hold(_ ids: [DownloadID]) throws {
        try Details(db: db).make(ids)
        guard let first = ids.first, let last = ids.last else { return }
        let state = DownloadState.paused(.user)
        try db.run(
            "UPDATE OR FAIL detail SET state = ?, stateDetail = ? WHERE id BETWEEN ? AND ?",
            [state.kind.rawValue, DownloadRow.detail(of: state), first, last])
    }
}
