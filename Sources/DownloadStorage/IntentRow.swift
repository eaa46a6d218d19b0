import DownloadCore
import GRDB

/// The intent of a download: the record that a small file is whole and about to get its name. The intent has its own
/// table, and stays there until the row of the download is written again. Writing the download's row twice would cost
/// as much as fetching the file. ``ItemIntents`` has the intents of items.
struct IntentRow: Sendable {
    private let file: SmallFile

    var id: DownloadID { file.id }
    var fileName: String { file.name }
    var total: Int64 { file.size }
    var updated: Int64 { DownloadRow.milliseconds(file.written) }

    /// Returns nil if the row of the download must be written instead, because the download has an earlier completion
    /// or no bytes, or because the inode does not fit in SQLite's 64-bit integers.
    init?(_ file: SmallFile) {
        if file.size == 0 || file.entry.common.completed != nil || file.identity.inode > UInt64(Int64.max) {
            return nil
        }
        self.file = file
    }

    /// Writes the intent. Returns false if the table `download` has no row with this id that belongs to `owner`.
    func write(ownedBy owner: String, _ db: Database) throws -> Bool {
        var statement = try RowStatement(
            db,
            sql: """
                INSERT OR REPLACE INTO intent (id, session, fileName, total, resume, updated)
                SELECT id, session, ?, ?, ?, ? FROM download WHERE id = ? AND session = ?
                """)
        statement.bind(fileName)
        statement.bind(total)
        statement.bind(JSONWriter.object(writeResume))
        statement.bind(updated)
        statement.bind(id)
        statement.bind(owner)
        return try statement.execute()
    }

    /// Writes the elements of an item's intent; see ``ItemIntents``.
    func writeElements(to json: inout JSONWriter) {
        let validators = file.answer.validators
        json.element(id)
        json.element(fileName)
        json.element(total)
        json.element(updated)
        json.element(validators.etag?.opaque)
        json.element(validators.etag?.isWeak ?? false)
        json.element(validators.lastModified)
        json.element(validators.lastModifiedIsStrong)
        json.element(file.showsURL)
        json.element(file.answer.contentType)
        json.element(file.answer.acceptsRanges)
        json.element(file.identity.inode)
        json.element(file.identity.born)
    }

    /// Writes ``SmallFile/resume`` without making it, because making it took a fifth of the time.
    func writeResume(to json: inout JSONWriter) {
        json.field("validators", object: file.answer.validators.write)
        json.field("total", file.size)
        json.field("finalURL", file.showsURL ? file.entry.url.string : nil)
        json.field("contentType", file.answer.contentType)
        json.field("acceptsRanges", file.answer.acceptsRanges)
        json.field("written", [], JSONWriter.range)
        json.field("durable", [], JSONWriter.range)
        json.field("file", object: file.identity.write)
    }

    static let forgetting = "DELETE FROM intent WHERE id = ?"

    /// Copies the intents of dead sessions to the rows of their downloads.
    static func settle(_ db: Database, isDead: (String) -> Bool) throws {
        let sessions = try String.fetchAll(
            try db.cachedStatement(sql: "SELECT session FROM intent UNION SELECT session FROM itemIntent"))
        for session in sessions where isDead(session) {
            try ItemIntents.settle(of: session, db)
            try db.cachedStatement(
                sql: """
                    UPDATE OR FAIL download SET isFinishing = 1, fileName = intent.fileName, total = intent.total,
                        resume = intent.resume, updated = intent.updated,
                        state = CASE state WHEN 'queued' THEN 'running' ELSE state END
                    FROM intent WHERE intent.session = ? AND download.id = intent.id
                        AND download.session = intent.session AND state NOT IN ('completed', 'failed', 'cancelled')
                    """
            ).execute(arguments: [session])
            try db.cachedStatement(sql: "DELETE FROM intent WHERE session = ?").execute(arguments: [session])
        }
    }
}
