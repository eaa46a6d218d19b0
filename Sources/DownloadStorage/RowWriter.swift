import DownloadCore
import GRDB

/// Writes rows back. Within one transaction: a statement that fails is forgotten by its database.
struct RowWriter {
    let db: Database
    private let inPlace: Statement

    init(_ db: Database) throws {
        self.db = db
        inPlace = try db.cachedStatement(sql: Self.inPlace)
    }

    /// Writes everything, if the row still belongs to `owner`; false when it does not.
    func update(_ row: DownloadRow, ownedBy owner: String?) throws -> Bool {
        if let hook = row.hook {
            try db.cachedStatement(sql: SQLiteDownloadStore.hookDue)
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

    /// OR FAIL, for what fails here fails the transaction: SQLite need not be able to take back the statement alone, for
    /// which it would copy each page before it changes it.
    private static let columns = """
        UPDATE OR FAIL download SET session = ?1, state = ?2, fileName = ?3, received = ?4, total = ?5, speed = ?6,
            isFinishing = ?7, updated = ?8, stateDetail = ?9, resume = ?10, attempts = ?11, completed = ?12
        """

    private static let whole = columns + ", request = ?15 WHERE id = ?13 AND session IS ?14"

    /// What was asked for rarely changes, and SQLite writes the index of every column that an UPDATE names, and runs its
    /// triggers.
    static let inPlace =
        columns + """
             WHERE id = ?13 AND session IS ?14 AND request = ?15
                AND url = ?16 AND folder = ?17 AND askedName IS ?18 AND priority = ?19
            """
}

/// Binds a statement's parameters one after the other: boxed as StatementArguments, those of a row cost as much as its
/// update.
struct BoundValues {
    private let statement: Statement
    private var index: Int32 = 0

    /// Forgets what was bound before: what is not bound is NULL.
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
