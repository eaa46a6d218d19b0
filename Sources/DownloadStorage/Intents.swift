import DownloadCore
import Foundation
import GRDB

/// The intent of a download: the record that a small file is whole and about to get its name. Writing the download's row
/// twice would cost as much as fetching the file. One row of `intent` has an array of the intents of a transaction. An
/// intent is an array of values, because names would make it longer and slower (docs/internals/small-files.md).
struct Intent: Decodable {
    let id: DownloadID
    let name: String
    let updated: Date
    let showsURL: Bool
    /// The resume data of the file, without the final URL.
    private(set) var resume = ResumeData()

    /// Returns false if the row of the download must be written instead, because the download has no bytes or a digest, or
    /// because the inode does not fit in SQLite's 64-bit integers.
    static func suits(_ file: SmallFile) -> Bool {
        file.size != 0 && file.answer.digest == nil && file.identity.inode <= UInt64(Int64.max)
    }

    /// Writes the values, in the order in which ``init(from:)`` reads them.
    static func write(_ file: SmallFile, to json: inout JSONWriter) {
        let validators = file.answer.validators
        json.element(file.id.rawValue)
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
    mutating func write(_ files: [SmallFile], of session: String, _ db: Database) throws {
        if files.isEmpty { return }
        let text = JSONWriter.text { json in
            json.array(files) { json, file in json.array { Intent.write(file, to: &$0) } }
        }
        try db.run("INSERT INTO intent (session, files) VALUES (?, ?)", [session, text])
        let row = db.lastInsertedRowID
        for file in files { rows[file.id] = row }
        remaining[row] = files.count
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
            try db.run("DELETE FROM intent WHERE id = ?", [row])
        } else if !isEnded {
            try Self.remove(id, db)
        }
        return true
    }

    /// Removes the intent of a download that is queued again or saved otherwise, whichever process has written it.
    static func remove(_ id: DownloadID, _ db: Database) throws {
        try db.run(
            """
            UPDATE intent SET files = (
                SELECT json_group_array(json(value)) FROM json_each(files) WHERE json_extract(value, '$[0]') <> ?1)
            WHERE json_valid(files)
                AND EXISTS (SELECT 1 FROM json_each(files) WHERE json_extract(value, '$[0]') = ?1)
            """, [id])
    }

    /// Writes the intents of dead sessions to the rows of their downloads. An intent that cannot be read is left out, so its
    /// file is fetched again.
    static func settle(_ db: Database, coder: RequestCoder, isDead: (String) -> Bool) throws {
        let sessions: [String] = try db.values("SELECT DISTINCT session FROM intent")
        for session in sessions where isDead(session) {
            let texts: [String] = try db.values(
                "SELECT files FROM intent WHERE session = ? AND typeof(files) = 'text'", [session])
            for text in texts {
                let intents = try? JSONText.decode([Readable<Intent>].self, text)
                for intent in (intents ?? []).compactMap(\.value) { try settle(intent, of: session, db, coder) }
            }
            try db.run("DELETE FROM intent WHERE session = ?", [session])
        }
    }

    private static func settle(_ intent: Intent, of session: String, _ db: Database, _ coder: RequestCoder) throws {
        let sql = "SELECT \(StoredColumns.all) FROM \(StoredColumns.downloads) AND download.id = ?"
        guard let found = try db.row(sql, [intent.id]).map({ try StoredDownload($0, coder: coder) }),
            found.damage == nil, found.record.session == session, !found.record.state.kind.isEnded
        else { return }
        var record = found.record
        intent.apply(to: &record)
        var writer = RowWriter(db, coder: coder)
        _ = try writer.update(DownloadRow(record, coder: coder), ownedBy: session)
    }

    /// A value, or nil if it cannot be read.
    private struct Readable<Value: Decodable>: Decodable {
        let value: Value?

        init(from decoder: any Decoder) throws { value = try? Value(from: decoder) }
    }
}
