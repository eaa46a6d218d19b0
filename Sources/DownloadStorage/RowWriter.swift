import DownloadCore
import GRDB

/// A writer of changed rows. Make a new writer for each transaction.
struct RowWriter {
    let db: Database
    private var inPlace: RowStatement

    init(_ db: Database) throws {
        self.db = db
        inPlace = try RowStatement(db, sql: Self.inPlace)
    }

    /// Writes all columns if the row still belongs to `owner`. Returns false if it does not.
    mutating func update(_ row: DownloadRow, ownedBy owner: String?) throws -> Bool {
        if let hook = row.hook {
            try db.cachedStatement(sql: HookRows.insertDue)
                .execute(arguments: [hook, row.id, owner, row.state.rawValue])
        }
        if try Self.execute(&inPlace, row, owner, withPlace: true) { return true }
        var whole = try RowStatement(db, sql: Self.whole)
        guard try Self.execute(&whole, row, owner, withPlace: false) else { return false }
        let place = row.place
        try db.cachedStatement(sql: "UPDATE download SET url = ?, folder = ?, askedName = ?, priority = ? WHERE id = ?")
            .execute(arguments: [place.url, place.folder, place.askedName, place.priority, row.id])
        return true
    }

    private static func execute(
        _ statement: inout RowStatement, _ row: DownloadRow, _ owner: String?, withPlace: Bool
    ) throws -> Bool {
        statement.bind(row.session)
        statement.bind(row.state.rawValue)
        statement.bind(row.fileName)
        statement.bind(row.received)
        statement.bind(row.total)
        statement.bind(row.speed)
        statement.bind(row.isFinishing)
        statement.bind(row.updated)
        statement.bind(row.stateDetail)
        statement.bind(row.resume)
        statement.bind(row.attempts)
        statement.bind(row.completed)
        statement.bind(row.id)
        statement.bind(owner)
        statement.bind(row.request)
        if withPlace {
            statement.bind(row.place.url)
            statement.bind(row.place.folder)
            statement.bind(row.place.askedName)
            statement.bind(row.place.priority)
        }
        return try statement.execute()
    }

    /// If this statement fails, the caller rolls back the whole transaction. OR FAIL tells SQLite that it need not undo
    /// the statement alone. Without OR FAIL, SQLite would copy each page before it changes the page.
    private static let columns = """
        UPDATE OR FAIL download SET session = ?1, state = ?2, fileName = ?3, received = ?4, total = ?5, speed = ?6,
            isFinishing = ?7, updated = ?8, stateDetail = ?9, resume = ?10, attempts = ?11, completed = ?12
        """

    private static let whole = columns + ", request = ?15 WHERE id = ?13 AND session IS ?14"

    /// The statement for a row whose request has not changed, which is the usual case. It does not set the columns of
    /// the request. For every column that an UPDATE sets, SQLite writes the indexes and runs the triggers, even if the
    /// value stays the same.
    static let inPlace =
        columns + """
             WHERE id = ?13 AND session IS ?14 AND request = ?15
                AND url = ?16 AND folder = ?17 AND askedName IS ?18 AND priority = ?19
            """
}
