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

    /// Returns runs of neighbouring requests that differ only in their URLs. A run has each URL only once.
    static func runs(of requests: [DownloadRequest]) -> [ArraySlice<DownloadRequest>] {
        var runs: [ArraySlice<DownloadRequest>] = []
        var urls = Set<String>(minimumCapacity: requests.count)
        var start = 0
        guard var probe = requests.first else { return [] }
        // The loop uses indices, because a copy of each element would be expensive.
        for index in requests.indices {
            let isNew = urls.insert(requests[index].url.string).inserted
            probe.url = requests[index].url
            if !isNew || probe != requests[index] {
                runs.append(requests[start..<index])
                start = index
                probe = requests[index]
                urls = [requests[index].url.string]
            }
        }
        runs.append(requests[start...])
        return runs
    }

    /// Adds the downloads of a run, or adopts or joins those that exist.
    mutating func add(_ run: ArraySlice<DownloadRequest>) throws {
        let urls = Self.json(run)
        var found = try find(run, urls)
        found.merge(try ItemAdding(db: db).find(run, coder)) { $0.record.id > $1.record.id ? $0 : $1 }
        // The body of a request is not stored, so the store cannot know whether a running download sends the same body.
        // A request with a body, or with another method than GET, therefore joins no running download.
        if run.first?.isPlain == false { found = found.filter { owned.isFree($0.value) } }
        let new = found.isEmpty ? run : ArraySlice(run.indices.filter { found[$0] == nil }.map { run[$0] })
        var id = try insert(new, found.isEmpty ? urls : Self.json(new))
        var last: DownloadEntry?
        for index in run.indices {
            guard let known = found[index] else {
                let entry =
                    last.map { DownloadEntry(id: id, url: run[index].url, like: $0) }
                    ?? DownloadEntry(DownloadRecord(adding: run[index], id: id, to: session, at: now))
                added.append(AddedDownload(kind: .inserted, entry: entry))
                id += 1
                if entry.isSourceItsURL { last = entry }
                continue
            }
            added.append(try adopt(known, for: run[index]))
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

    /// Looks for downloads with the same URL, folder and requested name as the requests. Returns the newest such
    /// download for the index of each request that has one.
    private func find(
        _ run: ArraySlice<DownloadRequest>, _ urls: String
    ) throws -> [Int: StoredDownload] {
        guard let place = run.first?.destination else { return [:] }
        let statement = try db.cachedStatement(
            sql: """
                SELECT \(RowReader.columns), place FROM (SELECT key AS place, value AS wanted FROM json_each(?))
                CROSS JOIN download INDEXED BY downloadByDestination
                WHERE folder = ? AND url = wanted AND askedName IS ?
                """)
        let rows = try Row.fetchCursor(statement, arguments: [urls, place.folder, place.fileName])
        var found: [Int: StoredDownload] = [:]
        while let row = try rows.next() {
            let download = try StoredDownload(row, coder: coder)
            let index = run.startIndex + row[RowReader.Column.allCases.count]
            if let other = found[index], other.record.id > download.record.id { continue }
            found[index] = download
        }
        return found
    }

    /// Inserts the rows and returns the first id. The other ids follow it.
    private func insert(
        _ run: ArraySlice<DownloadRequest>, _ urls: String
    ) throws -> DownloadID {
        guard let request = run.first else { return 0 }
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
            request.destination.folder, request.destination.fileName, time, time, try coder.encode(request), urls,
        ])
        let last = db.lastInsertedRowID
        let first = last - DownloadID(run.count) + 1
        try db.cachedStatement(sql: Migrations.logAdded).execute(arguments: [first, last])
        return first
    }

    private static func json(_ run: ArraySlice<DownloadRequest>) -> String {
        JSONWriter.text { json in json.array(run.indices) { $0.value(run[$1].url.string) } }
    }
}
