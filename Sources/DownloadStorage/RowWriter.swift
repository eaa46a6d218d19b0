import DownloadCore
import GRDB

/// A writer of changed rows. Make a new writer for each transaction. A statement that has failed cannot be used again:
/// GRDB removes it from its cache, but the writer would keep it.
struct RowWriter {
    let db: Database
    private let inPlace: Statement

    init(_ db: Database) throws {
        self.db = db
        inPlace = try db.cachedStatement(sql: Self.inPlace)
    }

    /// Writes all columns if the row still belongs to `owner`. Returns false if it does not.
    func update(_ row: DownloadRow, ownedBy owner: String?) throws -> Bool {
        if let hook = row.hook {
            try db.cachedStatement(sql: HookRows.insertDue)
                .execute(arguments: [hook, row.id, owner, row.state.rawValue])
        }
        try execute(inPlace, row, owner, withPlace: true)
        if db.changesCount > 0 { return true }
        try execute(db.cachedStatement(sql: Self.whole), row, owner, withPlace: false)
        guard db.changesCount > 0 else { return false }
        let place = row.place
        try db.cachedStatement(sql: "UPDATE download SET url = ?, folder = ?, askedName = ?, priority = ? WHERE id = ?")
            .execute(arguments: [place.url, place.folder, place.askedName, place.priority, row.id])
        return true
    }

    private func execute(_ statement: Statement, _ row: DownloadRow, _ owner: String?, withPlace: Bool) throws {
        var values = BoundValues(statement)
        try values.bind(row.session)
        try values.bind(row.state.rawValue)
        try values.bind(row.fileName)
        try values.bind(row.received)
        try values.bind(row.total)
        try values.bind(row.speed)
        try values.bind(row.isFinishing)
        try values.bind(row.updated)
        try values.bind(row.stateDetail)
        try values.bind(row.resume)
        try values.bind(row.attempts)
        try values.bind(row.completed)
        try values.bind(row.id)
        try values.bind(owner)
        try values.bind(row.request)
        if withPlace {
            try values.bind(row.place.url)
            try values.bind(row.place.folder)
            try values.bind(row.place.askedName)
            try values.bind(row.place.priority)
        }
        try statement.execute()
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

/// The values of a statement, which are bound one after the other. `StatementArguments` is not used, because it boxes
/// the values, and boxing the values of a row costs as much as the row's update.
struct BoundValues {
    private let statement: Statement
    private var index: Int32 = 0

    /// Removes the values that were bound before. Parameters that are not bound are NULL.
    init(_ statement: Statement) {
        self.statement = statement
        statement.setUncheckedArguments(StatementArguments())
    }

    mutating func bind(_ value: (some StatementBinding)?) throws {
        index += 1
        guard let code = value?.bind(to: statement.sqliteStatement, at: index), code != 0 else { return }
        throw DatabaseError(resultCode: ResultCode(rawValue: code))
    }
}
