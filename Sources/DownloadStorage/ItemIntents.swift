import DownloadCore
import GRDB

/// The intents of items: the records that their files are whole and about to get their names. One row stands for all
/// items of a transaction. A row for each item took a thirtieth of all instructions for a small file. The text of a row
/// is an array that has an array of values for each item (``IntentRow/writeElements(to:)``). Values with names would take
/// 3,000 instructions more for each item (callgrind).
enum ItemIntents {
    /// Writes one row for these items of a session, and returns its number.
    static func insert(_ rows: [IntentRow], of session: String, _ db: Database) throws -> Int64 {
        let text = JSONWriter.text { json in
            json.array(rows) { json, row in json.array(row.writeElements) }
        }
        try db.cachedStatement(sql: "INSERT INTO itemIntent (session, items) VALUES (?, ?)")
            .execute(arguments: [session, text])
        return db.lastInsertedRowID
    }

    /// Returns which of these downloads are not queued items.
    static func others(_ ids: [DownloadID], _ db: Database) throws -> Set<DownloadID> {
        guard let first = ids.min(), let last = ids.max(), last - first < widest * DownloadID(ids.count) else {
            return try eachOther(ids, db)
        }
        // Mostly the ids of the whole range are items. Counting them takes a quarter of the instructions of a look at
        // each.
        let counting = try db.cachedStatement(sql: "SELECT count(*) FROM item WHERE id BETWEEN ? AND ?")
        let count = try DownloadID.fetchOne(counting, arguments: [first, last])
        if count != last - first + 1 { return try eachOther(ids, db) }
        let finding = try db.cachedStatement(sql: "SELECT id FROM done WHERE id BETWEEN ? AND ?")
        let done = try DownloadID.fetchSet(finding, arguments: [first, last])
        return done.isEmpty ? [] : Set(ids.filter(done.contains))
    }

    /// How many times as long as the list of ids their range may be.
    private static let widest: DownloadID = 4

    private static func eachOther(_ ids: [DownloadID], _ db: Database) throws -> Set<DownloadID> {
        let statement = try db.cachedStatement(
            sql: """
                SELECT value FROM json_each(?) WHERE NOT EXISTS (SELECT 1 FROM item WHERE id = value)
                    OR EXISTS (SELECT 1 FROM done WHERE id = value)
                """)
        let numbers = JSONWriter.text { json in json.array(ids) { $0.value($1) } }
        return try DownloadID.fetchSet(statement, arguments: [numbers])
    }

    static func delete(_ batch: Int64, _ db: Database) throws {
        try db.cachedStatement(sql: "DELETE FROM itemIntent WHERE id = ?").execute(arguments: [batch])
    }

    /// Removes one item from the row of a batch, because the item has become a row of `download` that contains
    /// everything.
    static func remove(_ id: DownloadID, from batch: Int64, _ db: Database) throws {
        try db.cachedStatement(
            sql: """
                UPDATE itemIntent SET items = (
                    SELECT json_group_array(json(value)) FROM json_each(items) WHERE json_extract(value, '$[0]') <> ?)
                WHERE id = ? AND json_valid(items)
                """
        ).execute(arguments: [id, batch])
    }

    /// Copies the intents of a dead session's items to the table `intent`, and turns these items into rows of
    /// `download`. Intents without a number, a name, a size or a time are left out, so their files are fetched again.
    /// With other damage, the row of `download` is reported as damaged.
    static func settle(of session: String, _ db: Database) throws {
        try db.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO intent (id, session, fileName, total, resume, updated)
                SELECT \(element(0)), session, \(element(1)), \(element(2)), \(resume), \(element(3))
                FROM (
                    SELECT session, CASE type WHEN 'array' THEN value ELSE '[]' END AS value
                    FROM itemIntent CROSS JOIN json_each(CASE WHEN json_valid(items) THEN items ELSE '[]' END)
                    WHERE session = ?)
                WHERE typeof(\(element(0))) = 'integer' AND typeof(\(element(1))) = 'text'
                    AND typeof(\(element(2))) = 'integer' AND typeof(\(element(3))) = 'integer'
                    AND NOT EXISTS (SELECT 1 FROM done WHERE id = \(element(0)))
                """
        ).execute(arguments: [session])
        try db.cachedStatement(sql: "DELETE FROM itemIntent WHERE session = ?").execute(arguments: [session])
        let items = try db.cachedStatement(sql: "SELECT id FROM intent WHERE session = ?")
        try ItemPromotion.promote(try DownloadID.fetchAll(items, arguments: [session]), db)
    }

    // MARK: The values of an item

    /// Returns the SQL expression for a value of the item `value`, in the order of ``IntentRow/writeElements(to:)``.
    private static func element(_ index: Int) -> String { "json_extract(value, '$[\(index)]')" }

    private static func flag(_ index: Int) -> String {
        "json(CASE WHEN \(element(index)) THEN 'true' ELSE 'false' END)"
    }

    /// The ``ResumeData`` of the item, as ``IntentRow/writeResume(to:)`` would write it.
    private static let resume = """
        json_object(
            'validators', json_object(
                'etag', CASE WHEN \(element(4)) IS NOT NULL
                    THEN json_object('isWeak', \(flag(5)), 'opaque', \(element(4))) END,
                'lastModified', \(element(6)), 'lastModifiedIsStrong', \(flag(7))),
            'total', \(element(2)),
            'finalURL', CASE WHEN \(element(8)) THEN (SELECT url FROM item WHERE id = \(element(0))) END,
            'contentType', \(element(9)), 'acceptsRanges', \(flag(10)), 'written', json('[]'), 'durable', json('[]'),
            'file', json_object('inode', \(element(11)), 'born', \(element(12))))
        """
}
