import DownloadCore
import GRDB

/// The small files that one transaction saves. For each kind of event, all completed files of a session share one row of
/// the log (``EventBatch``). Each row of `request` is updated once.
struct SavedFiles {
    /// The downloads of one row of `request` without rows of `detail`, and the session that they are queued for.
    private struct Request {
        let id: Int64
        let downloads: ClosedRange<DownloadID>
        let session: String?
        var completed = 0
    }

    /// The files that one session saves.
    private struct Share {
        let session: String
        var started: [DownloadID] = []
        var completed: [DownloadID] = []
        /// The time of the last completed file.
        var time: Int64 = 0
        /// The files that are about to get their names.
        var intents: [SmallFile] = []
    }

    /// The owner and the state in a row of `detail`.
    private typealias Known = (session: String?, state: DownloadState.Kind?)

    private let db: Database
    /// The statement is looked up once for the transaction, because the cache compares its whole text.
    private var insertion: RowStatement
    private var requests: [Request] = []
    /// The index of the last file's request. Most neighbouring files are of the same request.
    private var current = 0
    private var shares: [Share] = []
    /// The rows of `detail` of the files that are saved now.
    private var known: [DownloadID: Known] = [:]
    /// The files that are saved now, but have no row of `download` any more.
    private var gone: Set<DownloadID> = []

    init(_ db: Database) throws {
        self.db = db
        insertion = try RowStatement(db, sql: DoneRow.insertion)
    }

    /// How many times as long as the list of ids their range may be.
    private static let widest = 4

    /// Reads what the store has of these downloads. Called before they are recorded, because conditions of each insertion
    /// take longer.
    mutating func look(at ids: [DownloadID]) throws {
        (known, gone) = ([:], [])
        guard let first = ids.min(), let last = ids.max() else { return }
        if first.distance(to: last) < Self.widest * ids.count {
            // Mostly there are all ids of the range. Counting them takes a quarter of the instructions of a look at each.
            let range: StatementArguments = [first, last]
            let count: Int? = try db.value("SELECT count(*) FROM download WHERE id BETWEEN ? AND ?", range)
            if count == first.distance(to: last) + 1 {
                return try note(db.rows("SELECT id, session, state FROM detail WHERE id BETWEEN ? AND ?", range))
            }
        }
        let numbers: StatementArguments = [JSONWriter.array(ids)]
        gone = Set(
            try db.values(
                """
                SELECT value FROM json_each(?) WHERE NOT EXISTS (SELECT 1 FROM download WHERE download.id = value)
                """, numbers))
        try note(
            db.rows(
                "SELECT detail.id, session, state FROM json_each(?) CROSS JOIN detail ON detail.id = value", numbers))
    }

    private mutating func note(_ rows: RowCursor) throws {
        while let row = try rows.next() {
            known[row[0]] = (
                String.fromDatabaseValue(row[1]),
                String.fromDatabaseValue(row[2]).flatMap(DownloadState.Kind.init)
            )
        }
    }

    /// Returns whether the download belongs to the session. If it has no row of `detail`, its request is the current one.
    private mutating func belongs(_ id: DownloadID, to session: String) throws -> Bool {
        if gone.contains(id) { return false }
        if let known = known[id] { return known.session == session }
        if current >= requests.count || !requests[current].downloads.contains(id) {
            guard let index = try indexOfRequest(of: id) else { return false }
            current = index
        }
        return requests[current].session == session
    }

    private mutating func indexOfRequest(of id: DownloadID) throws -> Int? {
        if let known = requests.firstIndex(where: { $0.downloads.contains(id) }) { return known }
        let found = try db.row(
            """
            SELECT request.id, request.first, request.last, request.session
            FROM download CROSS JOIN request ON request.id = download.request WHERE download.id = ?
            """, [id])
        guard let row = found else { return nil }
        let (first, last): (DownloadID, DownloadID) = (row[1], row[2])
        guard first <= id, id <= last else { return nil }
        requests.append(Request(id: row[0], downloads: first...last, session: row[3]))
        return requests.count - 1
    }

    private mutating func indexOfShare(of session: String) -> Int {
        if let known = shares.firstIndex(where: { $0.session == session }) { return known }
        shares.append(Share(session: session))
        return shares.count - 1
    }

    /// Records a completed file. Returns false if the download does not belong to the session.
    mutating func complete(_ file: SmallFile, of session: String) throws -> Bool {
        guard try belongs(file.id, to: session) else { return false }
        let old = known[file.id]
        if old == nil { requests[current].completed += 1 }
        let share = indexOfShare(of: session)
        shares[share].time = try DoneRow.write(file, &insertion)
        if old?.state ?? .queued == .queued { shares[share].started.append(file.id) }
        shares[share].completed.append(file.id)
        return true
    }

    /// Records that a file is about to get its name; ``finish(_:)`` writes the record. Returns false if the download does
    /// not belong to the session.
    mutating func intend(_ file: SmallFile, of session: String) throws -> Bool {
        guard try belongs(file.id, to: session) else { return false }
        shares[indexOfShare(of: session)].intents.append(file)
        return true
    }

    /// Writes the events, the counts and the intents of the whole transaction.
    func finish(_ intents: inout Intents) throws {
        for request in requests where request.completed > 0 {
            try db.run("UPDATE request SET queued = queued - ? WHERE id = ?", [request.completed, request.id])
        }
        for share in shares {
            let (session, time) = (share.session, share.time)
            try EventBatch(kind: .started, state: .running, session: session, time: time).log(share.started, db)
            try EventBatch(kind: .completed, state: .completed, session: session, time: time).log(share.completed, db)
            try intents.write(share.intents, of: session, db)
        }
    }
}
