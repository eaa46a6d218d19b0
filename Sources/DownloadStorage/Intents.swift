import DownloadCore
import Foundation
import GRDB

/// The intent of a download: the record that a small file is whole and about to get its name. Writing the download's row
/// twice would cost as much as fetching the file. One row of `intent` has an array of the intents of a transaction: a row for
/// each file took a thirtieth of all instructions for a small file. An intent is an array of values, because names
/// would take 3,000 instructions more for each file (callgrind).
struct Intent: Sendable {
    private let file: SmallFile

    var id: DownloadID { file.id }

    /// Returns nil if the row of the download must be written instead, because the download has no bytes or a digest, or
    /// because the inode does not fit in SQLite's 64-bit integers.
    init?(_ file: SmallFile) {
        if file.size == 0 || file.answer.digest != nil || file.identity.inode > UInt64(Int64.max) { return nil }
        self.file = file
    }

    /// Writes the values, in the order in which ``StoredIntent`` reads them.
    func write(to json: inout JSONWriter) {
        let validators = file.answer.validators
        json.element(id)
        json.element(file.name)
        json.element(file.size)
        json.element(DownloadRow.milliseconds(file.written))
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
}

/// An intent, as it is read.
private struct StoredIntent: Decodable {
    let id: DownloadID
    let name: String
    let updated: Date
    let showsURL: Bool
    /// The resume data of the file, without the final URL.
    private(set) var resume = ResumeData()

    init(from decoder: any Decoder) throws {
        var values = try decoder.unkeyedContainer()
        id = try values.decode(DownloadID.self)
        name = try values.decode(String.self)
        resume.total = try values.decode(Int64.self)
        updated = DownloadRow.date(try values.decode(Int64.self))
        let (etag, isWeak) = (try values.decode(String?.self), try values.decode(Bool.self))
        resume.validators = Validators(
            etag: etag.map { EntityTag(opaque: $0, isWeak: isWeak) }, lastModified: try values.decode(String?.self),
            lastModifiedIsStrong: try values.decode(Bool.self))
        showsURL = try values.decode(Bool.self)
        resume.contentType = try values.decode(String?.self)
        resume.acceptsRanges = try values.decode(Bool.self)
        resume.file = FileIdentity(inode: try values.decode(UInt64.self), born: try values.decode(Int64?.self))
    }

    /// Changes the record as the session that wrote the intent would have done.
    func apply(to record: inout DownloadRecord) {
        record.isFinishing = true
        record.fileName = name
        record.resume = resume
        record.resume.finalURL = showsURL ? record.request.url : nil
        record.updated = updated
        if record.state == .queued { record.state = .running }
    }
}

/// The intents that this process has written. A row is deleted when all its downloads have been written otherwise.
struct Intents {
    /// The row with the intent of each download.
    private var rows: [DownloadID: Int64] = [:]
    /// The number of remaining downloads of each row.
    private var remaining: [Int64: Int] = [:]

    /// Writes one row for these files of a session.
    mutating func write(_ intents: [Intent], of session: String, _ db: Database) throws {
        if intents.isEmpty { return }
        let text = JSONWriter.text { json in json.array(intents) { json, intent in json.array(intent.write) } }
        try db.cachedStatement(sql: "INSERT INTO intent (session, files) VALUES (?, ?)")
            .execute(arguments: [session, text])
        let row = db.lastInsertedRowID
        for intent in intents { rows[intent.id] = row }
        remaining[row] = intents.count
    }

    /// Forgets the intent of a download that has been written otherwise.
    /// - Parameter isEnded: Whether the download has ended. Then ``settle(_:coder:isDead:)`` ignores its intent, which
    ///   may stay in the row.
    /// - Returns: Whether there was an intent.
    @discardableResult
    mutating func forget(_ id: DownloadID, isEnded: Bool, _ db: Database) throws -> Bool {
        guard let row = rows.removeValue(forKey: id) else { return false }
        let count = remaining[row, default: 1] - 1
        remaining[row] = count > 0 ? count : nil
        if count <= 0 {
            try db.cachedStatement(sql: "DELETE FROM intent WHERE id = ?").execute(arguments: [row])
        } else if !isEnded {
            try Self.remove(id, db)
        }
        return true
    }

    /// Removes the intent of a download that is queued again or saved otherwise, whichever process has written it.
    static func remove(_ id: DownloadID, _ db: Database) throws {
        try db.cachedStatement(
            sql: """
                UPDATE intent SET files = (
                    SELECT json_group_array(json(value)) FROM json_each(files) WHERE json_extract(value, '$[0]') <> ?1)
                WHERE json_valid(files)
                    AND EXISTS (SELECT 1 FROM json_each(files) WHERE json_extract(value, '$[0]') = ?1)
                """
        ).execute(arguments: [id])
    }

    /// Writes the intents of dead sessions to the rows of their downloads. An intent that cannot be read is left out, so its
    /// file is fetched again.
    static func settle(_ db: Database, coder: RequestCoder, isDead: (String) -> Bool) throws {
        let sessions = try String.fetchAll(try db.cachedStatement(sql: "SELECT DISTINCT session FROM intent"))
        for session in sessions where isDead(session) {
            let texts = try String.fetchAll(
                try db.cachedStatement(sql: "SELECT files FROM intent WHERE session = ? AND typeof(files) = 'text'"),
                arguments: [session])
            for text in texts {
                let intents = try? JSONText.decode([Readable<StoredIntent>].self, text)
                for intent in (intents ?? []).compactMap(\.value) { try settle(intent, of: session, db, coder) }
            }
            try db.cachedStatement(sql: "DELETE FROM intent WHERE session = ?").execute(arguments: [session])
        }
    }

    private static func settle(_ intent: StoredIntent, of session: String, _ db: Database, _ coder: RequestCoder) throws
    {
        let statement = try db.cachedStatement(
            sql: "SELECT \(StoredColumns.all) FROM \(StoredColumns.downloads) AND download.id = ?")
        guard let row = try Row.fetchOne(statement, arguments: [intent.id]) else { return }
        let found = try StoredDownload(row, coder: coder)
        guard found.damage == nil, found.record.session == session, !found.record.state.kind.isEnded else { return }
        var record = found.record
        intent.apply(to: &record)
        var writer = try RowWriter(db, coder: coder)
        _ = try writer.update(DownloadRow(record, coder: coder), ownedBy: session)
    }

    /// A value, or nil if it cannot be read.
    private struct Readable<Value: Decodable>: Decodable {
        let value: Value?

        init(from decoder: any Decoder) throws { value = try? Value(from: decoder) }
    }
}
