import DownloadCore
import Foundation
import GRDB

/// The adding of downloads. To be fast for lists of a million URLs, one statement looks for many existing downloads,
/// and one statement inserts many rows.
extension SQLiteDownloadStore {
    package func add(_ requests: [DownloadRequest], session: String) async throws -> [AddedDownload] {
        if requests.isEmpty { return [] }
        let runs = Self.runs(of: requests)
        return try await write(durably: true) { [self] db in
            var ownership = DownloadOwnership(session: session, isAlive: isAlive)
            try IntentRow.settle(db) { ownership.isDead($0) }
            let now = time.date.stored
            var added: [AddedDownload] = []
            added.reserveCapacity(requests.count)
            for run in runs { try add(run, &ownership, now, to: &added, db) }
            return added
        }
    }

    /// Returns runs of neighbouring requests that differ only in their URLs. A run has each URL only once.
    private static func runs(of requests: [DownloadRequest]) -> [ArraySlice<DownloadRequest>] {
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

    private func add(
        _ run: ArraySlice<DownloadRequest>, _ ownership: inout DownloadOwnership, _ now: Date,
        to added: inout [AddedDownload], _ db: Database
    ) throws {
        let urls = Self.json(run)
        var found = try find(run, urls, in: db)
        found.merge(try ItemAdding(db: db).find(run, coder)) { $0.record.id > $1.record.id ? $0 : $1 }
        // The body of a request is not stored, so the store cannot know whether a running download sends the same body.
        // A request with a body, or with another method than GET, therefore joins no running download.
        if run.first?.isPlain == false {
            found = found.filter { ownership.standing(of: $0.value.kind, owner: $0.value.record.session) == .free }
        }
        let new = found.isEmpty ? run : ArraySlice(run.indices.filter { found[$0] == nil }.map { run[$0] })
        var id = try insert(new, found.isEmpty ? urls : Self.json(new), ownership.session, now, db)
        for index in run.indices {
            guard let known = found[index] else {
                let record = DownloadRecord(adding: run[index], id: id, to: ownership.session, at: now)
                added.append(AddedDownload(kind: .inserted, record: record))
                id += 1
                continue
            }
            if ownership.standing(of: known.kind, owner: known.record.session) == .busy {
                added.append(AddedDownload(kind: .joined, record: known.record))
                continue
            }
            try ItemPromotion.promote([known.record.id], db)
            var record = known.record
            var request = run[index]
            request.keepDescription(of: record)
            record.request = request
            added.append(
                AddedDownload(
                    kind: .adopted,
                    record: try hand(
                        record, to: ownership.session, at: now, holdsBack: run[index].startsPaused, db)))
        }
    }

    /// Returns the newest download with the same URL, folder and requested name, by the request's index.
    private func find(
        _ run: ArraySlice<DownloadRequest>, _ urls: String, in db: Database
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
        _ run: ArraySlice<DownloadRequest>, _ urls: String, _ session: String, _ now: Date, _ db: Database
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
