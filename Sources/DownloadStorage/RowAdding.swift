import DownloadCore
import Foundation
import GRDB

/// The adding of downloads in one transaction. To be fast for lists of a million URLs, one statement looks for many
/// existing downloads, and one statement inserts many rows.
struct RowAdding {
    private var owned: OwnedRows
    private(set) var added: [AddedDownload] = []

    private var db: Database { owned.db }
    private var coder: RequestCoder { owned.coder }
    private var session: String { owned.session }
    private var now: Date { owned.now }

    /// - Parameter count: The number of downloads that will be added.
    init(_ owned: OwnedRows, count: Int) {
        self.owned = owned
        added.reserveCapacity(count)
    }

    /// Adds the downloads of a run, or adopts or joins those that exist.
    mutating func add(_ run: AddedRun) throws {
        var found = try find(run)
        found.merge(try ItemAdding(db: db).find(run, coder)) { $0.record.id > $1.record.id ? $0 : $1 }
        // The body of a request is not stored, so the store cannot know whether a running download sends the same body.
        // A request with a body, or with another method than GET, therefore joins no running download.
        if !run.request.isPlain { found = found.filter { owned.isFree($0.value) } }
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
            id += 1
        }
    }

    /// Gives a known download to the session, or joins it if a live session works on it.
    private mutating func adopt(_ known: StoredDownload, for request: DownloadRequest) throws -> AddedDownload {
        if !owned.isFree(known) { return AddedDownload(kind: .joined, record: known.record) }
        try ItemPromotion.promote([known.record.id], db)
        var record = known.record
        record.request = request
        record.request.keepDescription(of: known.record)
        return AddedDownload(kind: .adopted, record: try owned.hand(record, holdsBack: request.startsPaused))
    }

    /// Looks for downloads with the same URL, folder and requested name. Returns the newest such download for the index
    /// of each URL that has one.
    private func find(_ run: AddedRun) throws -> [Int: StoredDownload] {
        let place = run.request.destination
        let places = try places(run)
        if places.isEmpty { return [:] }
        let statement = try db.cachedStatement(
            sql: """
                SELECT \(RowReader.columns), place FROM (SELECT key AS place, value AS wanted FROM json_each(?))
                CROSS JOIN download INDEXED BY downloadByDestination
                WHERE folder = ? AND url = wanted AND askedName IS ?
                """)
        let urls = JSONWriter.text { json in json.array(places) { $0.value(run.urls[$1].string) } }
        let rows = try Row.fetchCursor(statement, arguments: [urls, place.folder, place.fileName])
        var found: [Int: StoredDownload] = [:]
        while let row = try rows.next() {
            let download = try StoredDownload(row, coder: coder)
            let index = places[row[RowReader.Column.allCases.count] as Int]
            if let other = found[index], other.record.id > download.record.id { continue }
            found[index] = download
        }
        return found
    }

    /// Returns the indices of the URLs to look up. Mostly the folder has items only, or a few other downloads, and then
    /// reading their URLs takes less time than looking up each URL. With one other download in the folder, a million
    /// lines took 5.0 s instead of 5.6 (medians of 5 rounds in turn).
    private func places(_ run: AddedRun) throws -> [Int] {
        let statement = try db.cachedStatement(sql: "SELECT url FROM download WHERE folder = ? LIMIT ?")
        let known = try String.fetchAll(statement, arguments: [run.request.destination.folder, run.urls.count + 1])
        if known.count > run.urls.count { return Array(run.urls.indices) }
        if known.isEmpty { return [] }
        let set = Set(known)
        return run.urls.indices.filter { set.contains(run.urls[$0].string) }
    }

    /// Inserts the rows and returns the first id. The other ids follow it.
    private func insert(_ run: AddedRun) throws -> DownloadID {
        if run.urls.isEmpty { return 0 }
        let request = run.request
        if ItemAdding.takes(run) {
            return try ItemAdding(db: db).insert(
                run, try coder.encode(request), session: session, at: DownloadRow.milliseconds(now))
        }
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO download
                    (session, state, stateDetail, priority, folder, askedName, url, created, updated, request)
                SELECT ?, ?, ?, ?, ?, ?, value, ?, ?, ? FROM json_each(?)
                """)
        let time = DownloadRow.milliseconds(now)
        let state = DownloadRecord(adding: request, id: 0, to: session, at: now).state
        try statement.execute(arguments: [
            session, state.kind.rawValue, try DownloadRow.detail(of: state), request.priority,
            request.destination.folder, request.destination.fileName, time, time, try coder.encode(request), run.json,
        ])
        let last = db.lastInsertedRowID
        let first = last - DownloadID(run.urls.count) + 1
        try db.cachedStatement(sql: Schema.logAdded).execute(arguments: [first, last])
        return first
    }
}
