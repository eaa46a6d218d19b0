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

    init(_ db: Database, coder: RequestCoder) throws {
        self.db = db
        self.coder = coder
        log = EventLog(db: db)
    }

    /// The values of a download in the store.
    private struct Old {
        let state: String?
        let received: Int64
        let hasDetail: Bool
        let requestID: Int64
        let url: String
        let request: DownloadRow.Request
        let priority: Int?
    }

    /// Returns the values of a download; nil if it was removed or belongs to another session than `owner`.
    private func old(_ id: DownloadID, ownedBy owner: String?) throws -> Old? {
        let statement = try db.cachedStatement(
            sql: """
                SELECT detail.id, CASE WHEN detail.id IS NULL THEN 'queued' ELSE detail.state END,
                    CASE WHEN detail.id IS NULL THEN request.session ELSE detail.session END,
                    coalesce(detail.received, 0), download.request, download.url, request.folder, request.askedName,
                    request.document, coalesce(detail.priority, request.priority)
                FROM \(StoredColumns.downloads) AND download.id = ?
                """)
        guard let row = try Row.fetchOne(statement, arguments: [id]) else { return nil }
        guard row[2] as DatabaseValue == owner.databaseValue else { return nil }
        func text(_ index: Int) -> String { String.fromDatabaseValue(row[index]) ?? "" }
        return Old(
            state: String.fromDatabaseValue(row[1]), received: Int64.fromDatabaseValue(row[3]) ?? 0,
            hasDetail: !row.hasNull(atIndex: 0), requestID: Int64.fromDatabaseValue(row[4]) ?? 0, url: text(5),
            request: DownloadRow.Request(
                folder: text(6), askedName: String.fromDatabaseValue(row[7]), document: text(8)),
            priority: Int.fromDatabaseValue(row[9]))
    }

    /// Writes a download if it still belongs to `owner`. Returns false if it does not.
    /// - Parameter hadIntent: Whether the download has begun without a record of it. Its start is logged then.
    mutating func update(_ row: DownloadRow, ownedBy owner: String?, hadIntent: Bool = false) throws -> Bool {
        guard let old = try old(row.id, ownedBy: owner) else { return false }
        if !old.hasDetail { try Details(db: db).make([row.id]) }
        if let hook = row.hook, let owner, old.state != row.state.rawValue {
            try db.cachedStatement(sql: HookRows.insertion).execute(arguments: [owner, hook])
        }
        if hadIntent, old.state == DownloadState.Kind.queued.rawValue, row.state != .running {
            try begin(row)
        }
        var statement = try RowStatement(db, sql: Self.replacement)
        statement.bind(row.id)
        statement.bind(row.session)
        statement.bind(row.state.rawValue)
        statement.bind(row.stateDetail)
        statement.bind(row.priority)
        statement.bind(row.fileName)
        statement.bind(row.received)
        statement.bind(row.total)
        statement.bind(row.speed)
        statement.bind(row.isFinishing)
        statement.bind(row.updated)
        statement.bind(row.resume)
        statement.bind(row.attempts)
        statement.bind(row.completed)
        _ = try statement.execute()
        try logMove(row.id, of: owner, from: old, to: row.state, received: row.received, at: row.updated)
        try change(row.id, old, url: row.url, row.request, priority: row.priority, at: row.updated)
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
        guard let old = try old(record.id, ownedBy: owner) else { return false }
        if !old.hasDetail { try Details(db: db).make([record.id]) }
        let wasCompleted = old.state == DownloadState.Kind.completed.rawValue
        if wasCompleted { try Intents.remove(record.id, db) }
        let updated = DownloadRow.milliseconds(record.updated)
        try db.cachedStatement(
            sql: """
                UPDATE OR FAIL detail SET session = ?, state = ?, stateDetail = ?, priority = ?, speed = NULL, updated = ?
                \(wasCompleted ? Self.forgetting : "") WHERE id = ?
                """
        ).execute(arguments: [
            record.session, record.state.kind.rawValue, try DownloadRow.detail(of: record.state), record.priority,
            updated, record.id,
        ])
        try logMove(record.id, of: owner, from: old, to: record.state.kind, received: old.received, at: updated)
        try change(
            record.id, old, url: record.request.url.string, try DownloadRow.Request(record.request, coder: coder),
            priority: record.priority, at: updated)
        return true
    }

    private static let forgetting = """
        , received = 0, total = NULL, attempts = NULL, started = NULL, ended = NULL, metrics = NULL
        """

    /// Logs the start of a download that ends now.
    private func begin(_ row: DownloadRow) throws {
        try db.cachedStatement(
            sql: "UPDATE OR FAIL detail SET state = 'running', fileName = ?, received = 0, total = ? WHERE id = ?"
        ).execute(arguments: [row.fileName, row.total, row.id])
        try log.note(.started, of: [row.id], at: row.updated)
    }

    private func logMove(
        _ id: DownloadID, of owner: String?, from old: Old, to state: DownloadState.Kind, received: Int64,
        at time: Int64
    ) throws {
        let hasMoved = old.state != state.rawValue
        guard hasMoved || (state == .running && received < old.received) else { return }
        try log.note(hasMoved ? LoggedEvent.Kind(state) : .restarted, of: [id], session: owner, at: time)
    }

    /// Changes the URL and the request of a download. Logs a change of the URL, the priority or the rate limit.
    private mutating func change(
        _ id: DownloadID, _ old: Old, url: String, _ request: DownloadRow.Request, priority: Int, at time: Int64
    ) throws {
        var isLogged = old.url != url || old.priority != priority
        if old.url != url {
            let hash = URLHash.of(url)
            try db.cachedStatement(sql: "UPDATE OR FAIL download SET url = ?, hash = ? WHERE id = ?")
                .execute(arguments: [url, try HashSegments(db: db).take([hash]).key(hash), id])
        }
        if old.request != request {
            let key = RequestKey(old: old.requestID, request: request)
            let row = try requests[key] ?? makeRequest(key, for: id, at: time)
            requests[key] = row
            try db.cachedStatement(sql: "UPDATE request SET first = min(first, ?1), last = max(last, ?1) WHERE id = ?2")
                .execute(arguments: [id, row])
            try db.cachedStatement(sql: "UPDATE OR FAIL download SET request = ? WHERE id = ?")
                .execute(arguments: [row, id])
            if old.request.document != request.document {
                let limits = [old.request, request].map { try? coder.decode($0.document).rateLimit }
                isLogged = isLogged || limits[0] != limits[1]
            }
        }
        if isLogged { try log.note(.changed, of: [id], at: time) }
    }

    /// Makes a row of `request` in place of an old one, for this download and others.
    private func makeRequest(_ key: RequestKey, for id: DownloadID, at time: Int64) throws -> Int64 {
        try db.cachedStatement(
            sql: """
                INSERT INTO request (priority, folder, askedName, document, created, first, last, queued)
                VALUES (0, ?2, ?3, ?4, coalesce((SELECT created FROM request WHERE id = ?1), ?6), ?5, ?5, 0)
                """
        ).execute(arguments: [
            key.old, key.request.folder, key.request.askedName, key.request.document, id, time,
        ])
        return db.lastInsertedRowID
    }
}
