import DownloadCore
import GRDB

/// The change of items into rows of `download` with the same ids. An item can only be queued or completed, so an item
/// that gets any other state becomes a row of `download`.
enum ItemPromotion {
    /// Turns the items among these downloads into rows of `download`. Other downloads are not changed.
    static func promote(_ ids: [DownloadID], _ db: Database) throws {
        let items = try db.cachedStatement(sql: "SELECT 1 FROM item LIMIT 1")
        if ids.isEmpty { return }
        guard try Int.fetchOne(items) != nil else { return }
        let numbers = JSONWriter.text { json in json.array(ids) { $0.value($1) } }
        try db.cachedStatement(
            sql: """
                INSERT INTO download (id, session, state, priority, folder, askedName, fileName, url, speed, isFinishing,
                    created, updated, request, stateDetail, resume, attempts, completed, received, total)
                SELECT \(ItemRows.columns), coalesce(done.bytes, 0), done.bytes
                FROM json_each(?) CROSS JOIN item ON item.id = value CROSS JOIN list ON list.id = item.list
                    LEFT JOIN done ON done.id = item.id
                WHERE done.isMoved IS NOT 1
                """
        ).execute(arguments: [numbers])
        if db.changesCount == 0 { return }
        try db.cachedStatement(
            sql: """
                UPDATE list SET queued = queued - (
                    SELECT count(*) FROM json_each(?1) CROSS JOIN item ON item.id = value
                    WHERE item.list = list.id AND NOT EXISTS (SELECT 1 FROM done WHERE done.id = item.id))
                WHERE id IN (SELECT item.list FROM json_each(?1) CROSS JOIN item ON item.id = value)
                """
        ).execute(arguments: [numbers])
        try db.cachedStatement(
            sql: """
                INSERT INTO done (id, isMoved)
                SELECT item.id, 1 FROM json_each(?) CROSS JOIN item ON item.id = value WHERE true
                ON CONFLICT (id) DO UPDATE SET isMoved = 1
                """
        ).execute(arguments: [numbers])
    }

    /// Turns at most `limit` queued items of a session into rows of `download`.
    static func promoteQueued(of session: String, limit: Int, _ db: Database) throws {
        let statement = try db.cachedStatement(
            sql: """
                SELECT item.id FROM list INDEXED BY listQueued CROSS JOIN item ON item.id BETWEEN list.first AND list.last
                WHERE list.queued > 0 AND list.session = ? AND NOT EXISTS (SELECT 1 FROM done WHERE done.id = item.id)
                LIMIT ?
                """)
        try promote(try DownloadID.fetchAll(statement, arguments: [session, limit]), db)
    }
}
