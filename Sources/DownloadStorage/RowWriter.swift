import DownloadCore
import GRDB

/// A writer of changed downloads. Make a new writer for each transaction.
struct RowWriter {
    let db: Database
    private let coder: RequestCoder
    private let log: EventLog
    /// The ids of the rows of `request` that this transaction has made.
    private var requests: [RequestKey: Int64] = [:]

    private struct RequestKey: Hashable {
        let old: Int64
        let request: DownloadRow.Request
    }

    init(_ db: Database, coder: RequestCoder) {
        self.db = db
        self.coder = coder
        log = EventLog(db: db)
    }

    /// The values of a download in the store.
    private struct Old {
        let state: String?
        let owner: String?
        let received: Int64
        let requestID: Int64
        let url: String
        let request: DownloadRow.Request
        let priority: Int?
    }

    /// Returns the values of a download, and gives it a row of `detail` if it has none. Returns nil if the download was
    /// removed or belongs to another session than `owner`.
    private func take(_ id: DownloadID, ownedBy owner: String?) throws -> Old? {
        let found = try db.row(
            """
            SELECT detail.id, CASE WHEN detail.id IS NULL THEN 'queued' ELSE detail.state END,
                CASE WHEN detail.id IS NULL THEN request.session ELSE detail.session END,
                coalesce(detail.received, 0), download.request, download.url, request.folder, request.askedName,
                request.document, coalesce(detail.priority, request.priority)
            FROM \(StoredColumns.downloads) AND download.id = ?
            """, [id])
        guard let row = found, row[2] as DatabaseValue == owner.databaseValue else { return nil }
        if row.hasNull(atIndex: 0) { try Details(db: db).make([id]) }
        func text(_ index: Int) -> String { String.fromDatabaseValue(row[index]) ?? "" }
        return Old(
            state: String.fromDatabaseValue(row[1]), owner: owner, received: Int64.fromDatabaseValue(row[3]) ?? 0,
            requestID: Int64.fromDatabaseValue(row[4]) ?? 0, url: text(5),
            request: DownloadRow.Request(
                folder: text(6), askedName: String.fromDatabaseValue(row[7]), document: text(8)),
            priority: Int.fromDatabaseValue(row[9]))
    }

    /// Writes a download if it still belongs to `owner`. Returns false if it does not.
    /// - Parameter hadIntent: Whether the download has begun without a record of it. Its start is logged then.
    mutating func update(_ row: DownloadRow, ownedBy owner: String?, hadIntent: Bool = false) throws -> Bool {
        let record = row.record
        guard let old = try take(record.id, ownedBy: owner) else { return false }
        if let hook = row.hook, let owner, old.state != row.state.rawValue {
            try db.run("INSERT INTO hook (session, record) VALUES (?, ?)", [owner, hook])
        }
        let (received, total) = record.present
        if hadIntent, old.state == DownloadState.Kind.queued.rawValue, row.state != .running {
            try db.run(
                "UPDATE OR FAIL detail SET state = 'running', fileName = ?, received = 0, total = ? WHERE id = ?",
                [record.fileName, total, record.id])
            try log.note(.started, of: [record.id], at: row.updated)
        }
        var statement = try RowStatement(db, sql: Self.replacement)
        statement.bind(record.id.rawValue)
        statement.bind(record.session)
        statement.bind(row.state.rawValue)
        statement.bind(row.stateDetail)
        statement.bind(record.priority)
        statement.bind(record.fileName)
        statement.bind(received)
        statement.bind(total)
        statement.bind(record.speed)
        statement.bind(record.isFinishing)
        statement.bind(row.updated)
        statement.bind(row.resume)
        statement.bind(row.attempts)
        statement.bind(row.completed)
        _ = try statement.execute()
        try finish(record, old, row.state, received: received, url: row.url, row.request, at: row.updated)
        return true
    }

    static let replacement = """
        INSERT OR REPLACE INTO detail (id, session, state, stateDetail, priority, fileName, received, total, speed,
            isFinishing, updated, resume, attempts, completed)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
        """

    /// Writes that a download was queued or held back (``DownloadRecord/queue(for:at:holdsBack:)``). Everything else
    /// stays as it is, except that a completed download begins without attempts. Returns false if the download does not
    /// belong to `owner`.
    mutating func queue(_ record: DownloadRecord, ownedBy owner: String?) throws -> Bool {
        guard let old = try take(record.id, ownedBy: owner) else { return false }
        let wasCompleted = old.state == DownloadState.Kind.completed.rawValue
        if wasCompleted { try Intents.remove(record.id, db) }
        let (state, updated, asked) = (record.state, DownloadRow.milliseconds(record.updated), record.request)
        try db.run(
            """
            UPDATE OR FAIL detail SET session = ?, state = ?, stateDetail = ?, priority = ?, speed = NULL, updated = ?
            \(wasCompleted ? Self.forgetting : "") WHERE id = ?
            """,
            [record.session, state.kind.rawValue, DownloadRow.detail(of: state), asked.priority, updated, record.id])
        try finish(
            record, old, state.kind, received: old.received, url: asked.url.string,
            DownloadRow.Request(asked, coder: coder), at: updated)
        return true
    }

    private static let forgetting = """
        , received = 0, total = NULL, attempts = NULL, started = NULL, ended = NULL, metrics = NULL
        """

    /// Logs the move of a download to its state, and changes its URL and its request. Also logs a change of the URL, the
    /// priority or the rate limit.
    private mutating func finish(
        _ record: DownloadRecord, _ old: Old, _ state: DownloadState.Kind, received: Int64, url: String,
        _ request: DownloadRow.Request, at time: Int64
    ) throws {
        let id = record.id
        let hasMoved = old.state != state.rawValue
        if hasMoved || (state == .running && received < old.received) {
            try log.note(hasMoved ? LoggedEvent.Kind(state) : .restarted, of: [id], session: old.owner, at: time)
        }
        var isLogged = old.url != url || old.priority != record.priority
        if old.url != url {
            let hash = URLHash.of(url)
            let key = URLHash.key(hash, in: try HashSegments(db: db).take([hash]))
            try db.run("UPDATE OR FAIL download SET url = ?, hash = ? WHERE id = ?", [url, key, id])
        }
        if old.request != request {
            let key = RequestKey(old: old.requestID, request: request)
            let row = try requests[key] ?? makeRequest(key, for: id, at: time)
            requests[key] = row
            try db.run("UPDATE request SET first = min(first, ?1), last = max(last, ?1) WHERE id = ?2", [id, row])
            try db.run("UPDATE OR FAIL download SET request = ? WHERE id = ?", [row, id])
            if old.request.document != request.document {
                let limits = [old.request, request].map { try? coder.decode($0.document).rateLimit }
                isLogged = isLogged || limits[0] != limits[1]
            }
        }
        if isLogged { try log.note(.changed, of: [id], at: time) }
    }

    /// Makes a row of `request` in place of an old one, for this download and others.
    private func makeRequest(_ key: RequestKey, for id: DownloadID, at time: Int64) throws -> Int64 {
        try db.run(
            """
            INSERT INTO request (priority, folder, askedName, document, created, first, last, queued)
            VALUES (0, ?2, ?3, ?4, coalesce((SELECT created FROM request WHERE id = ?1), ?6), ?5, ?5, 0)
            """, [key.old, key.request.folder, key.request.askedName, key.request.document, id, time])
        return db.lastInsertedRowID
    }
}
