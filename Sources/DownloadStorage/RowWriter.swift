import DownloadCore
import GRDB

/// Writes rows back. Within one transaction: a statement that fails is forgotten by its database.
struct RowWriter {
    private let db: Database
    private let inPlace: Statement

    init(_ db: Database) throws {
        self.db = db
        inPlace = try db.cachedStatement(sql: Self.inPlace)
    }

    /// Writes everything, if the row still belongs to `owner`; false when it does not.
    func update(_ row: DownloadRow, ownedBy owner: String?) throws -> Bool {
        try execute(inPlace, row, owner, withPlace: true)
        if db.changesCount > 0 { return true }
        try execute(db.cachedStatement(sql: Self.whole), row, owner, withPlace: false)
        guard db.changesCount > 0 else { return false }
        let (request, destination) = (row.record.request, row.record.request.destination)
        try db.cachedStatement(sql: "UPDATE download SET url = ?, folder = ?, askedName = ?, priority = ? WHERE id = ?")
            .execute(
                arguments: [
                    request.url.string, destination.folder, destination.fileName, request.priority, row.record.id,
                ])
        return true
    }

    private func execute(_ statement: Statement, _ row: DownloadRow, _ owner: String?, withPlace: Bool) throws {
        let record = row.record
        let present = record.present
        var values = BoundValues(statement)
        try values.bind(record.session)
        try values.bind(record.state.kind.rawValue)
        try values.bind(record.fileName)
        try values.bind(present.received)
        try values.bind(present.total)
        try values.bind(record.speed)
        try values.bind(record.isFinishing)
        try values.bind(DownloadRow.milliseconds(record.updated))
        try values.bind(row.stateDetail)
        try values.bind(row.resume)
        try values.bind(row.attempts)
        try values.bind(row.completed)
        try values.bind(record.id)
        try values.bind(owner)
        try values.bind(row.request)
        if withPlace {
            let request = record.request
            try values.bind(request.url.string)
            try values.bind(request.destination.folder)
            try values.bind(request.destination.fileName)
            try values.bind(request.priority)
        }
        try statement.execute()
    }

    private static let columns = """
        UPDATE download SET session = ?1, state = ?2, fileName = ?3, received = ?4, total = ?5, speed = ?6,
            isFinishing = ?7, updated = ?8, stateDetail = ?9, resume = ?10, attempts = ?11, completed = ?12
        """

    private static let whole = columns + ", request = ?15 WHERE id = ?13 AND session IS ?14"

    /// What was asked for rarely changes, and SQLite writes the index of every column that an UPDATE names, and runs its
    /// triggers.
    private static let inPlace =
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
