import DownloadCore
import GRDB

/// A writer of changed downloads. Make a new writer for each transaction.
struct RowWriter {
    let db: Database
    private let coder: RequestCoder
    private let log: EventLog
    /// The rows of `request` that this transaction has made, by what they have.
    private var requests: [RequestKey: Int64] = [:]

    private struct RequestKey: Hashable {
        let old: Int64
        let folder: String
        let askedName: String?
        let document: String
    }

    init(_ db: Database, coder: RequestCoder) throws {
        self.db = db
        self.coder = coder
        log = EventLog(db: db)
    }

    /// What the store has of a download.
    private struct Old {
        let state: String?
        let session: DatabaseValue
        let received: Int64
        let hasDetail: Bool
        let request: Int64
        let hash: Int64
        let url: String
        let folder: String
        let askedName: String?
        let document: String
        let priority: Int?
    }

    /// Returns what the store has of a download; nil if it has been removed, or belongs to another than `owner`.
    private func old(_ id: DownloadID, ownedBy owner: String?) throws -> Old? {
        let statement = try db.cachedStatement(
            sql: """
                SELECT detail.id, CASE WHEN detail.id IS NULL THEN 'queued' ELSE detail.state END,
                    CASE WHEN detail.id IS NULL THEN request.session ELSE detail.session END,
                    coalesce(detail.received, 0), download.request, download.hash, download.url, request.folder,
                    request.askedName, request.document, coalesce(detail.priority, request.priority)
                FROM \(StoredColumns.downloads) AND download.id = ?
                """)
        guard let row = try Row.fetchOne(statement, arguments: [id]) else { return nil }
        let session: DatabaseValue = row[2]
        guard session == owner.databaseValue else { return nil }
        func text(_ index: Int) -> String { String.fromDatabaseValue(row[index]) ?? "" }
        return Old(
            state: String.fromDatabaseValue(row[1]), session: session, received: Int64.fromDatabaseValue(row[3]) ?? 0,
            hasDetail: !row.hasNull(atIndex: 0), request: Int64.fromDatabaseValue(row[4]) ?? 0,
            hash: Int64.fromDatabaseValue(row[5]) ?? 0, url: text(6), folder: text(7),
            askedName: String.fromDatabaseValue(row[8]), document: text(9), priority: Int.fromDatabaseValue(row[10]))
    }

    /// Writes a download if it still belongs to `owner`. Returns false if it does not.
    /// - Parameter hadIntent: Whether the download has begun without a record of it. Its start is logged then.
    mutating func update(_ row: DownloadRow, ownedBy owner: String?, hadIntent: Bool = false) throws -> Bool {
        guard let old = try old(row.id, ownedBy: owner) else { return false }
        if !old.hasDetail { try Details(db: db).make([row.id]) }
        if let hook = row.hook, old.state != row.state.rawValue, let session = String.fromDatabaseValue(old.session) {
            try db.cachedStatement(sql: HookRows.insertion).execute(arguments: [session, hook])
        }
        if hadIntent, old.state == DownloadState.Kind.queued.rawValue, row.state != .running {
            try begin(row)
        }
        var statement = try RowStatement(db, sql: Self.replacement)
        statement.bind(row.id)
        statement.bind(row.session)
        statement.bind(row.state.rawValue)
        statement.bind(row.stateDetail)
        statement.bind(row.place.priority)
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
        try logMove(row.id, from: old, to: row.state, received: row.received, at: row.updated)
        try change(row.id, old, row.place, at: row.updated)
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
            updated,
            record.id,
        ])
        try logMove(record.id, from: old, to: record.state.kind, received: old.received, at: updated)
        try change(record.id, old, try DownloadRow.Place(record.request, coder: coder), at: updated)
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
        try log.note("started", of: row.id, at: row.updated)
    }

    private func logMove(
        _ id: DownloadID, from old: Old, to state: DownloadState.Kind, received: Int64, at time: Int64
    ) throws {
        let hasMoved = old.state != state.rawValue
        guard hasMoved || (state == .running && received < old.received) else { return }
        let kind =
            !hasMoved ? "restarted" : state == .queued ? "resumed" : state == .running ? "started" : state.rawValue
        try log.note(kind, of: id, session: old.session, at: time)
    }

    /// Changes the URL and the request of a download.
    private mutating func change(_ id: DownloadID, _ old: Old, _ place: DownloadRow.Place, at time: Int64) throws {
        if old.url != place.url {
            let hash = URLHash.of(place.url)
            try db.cachedStatement(sql: "UPDATE OR FAIL download SET url = ?, hash = ? WHERE id = ?")
                .execute(arguments: [place.url, try HashSegments(db: db).take([hash]).key(hash), id])
        }
        var limit = place.rateLimit
        if old.folder != place.folder || old.askedName != place.askedName || old.document != place.document {
            limit = (try? coder.decode(old.document)).flatMap { $0.rateLimit.map { Int64($0) } }
            let key = RequestKey(
                old: old.request, folder: place.folder, askedName: place.askedName, document: place.document)
            let request = try requests[key] ?? makeRequest(key, for: id, at: time)
            requests[key] = request
            try db.cachedStatement(sql: "UPDATE request SET first = min(first, ?1), last = max(last, ?1) WHERE id = ?2")
                .execute(arguments: [id, request])
            try db.cachedStatement(sql: "UPDATE OR FAIL download SET request = ? WHERE id = ?")
                .execute(arguments: [request, id])
        }
        if old.url != place.url || old.priority != place.priority || limit != place.rateLimit {
            try log.note("changed", of: id, at: time)
        }
    }

    /// Makes a row of `request` in place of an old one, for this download and others.
    private func makeRequest(_ key: RequestKey, for id: DownloadID, at time: Int64) throws -> Int64 {
        try db.cachedStatement(
            sql: """
                INSERT INTO request (priority, folder, askedName, document, created, first, last, queued)
                VALUES (0, ?2, ?3, ?4, coalesce((SELECT created FROM request WHERE id = ?1), ?6), ?5, ?5, 0)
                """
        ).execute(arguments: [key.old, key.folder, key.askedName, key.document, id, time])
        return db.lastInsertedRowID
    }
}
