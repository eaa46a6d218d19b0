import DownloadCore
import GRDB

/// The rows of `detail`, which a download gets when it is no longer just queued.
struct Details {
    let db: Database

    /// Gives a row to each of these downloads that has none. The row says what the `request` of the download says.
    func make(_ ids: [DownloadID]) throws {
        if ids.isEmpty { return }
        let numbers = JSONWriter.array(ids)
        // The counts come first, because they depend on the rows that are still missing.
        try db.run(
            """
            UPDATE request SET queued = queued - counted.number FROM (
                SELECT download.request AS id, count(*) AS number
                FROM json_each(?) CROSS JOIN download ON download.id = value
                WHERE NOT EXISTS (SELECT 1 FROM detail WHERE detail.id = download.id) GROUP BY 1) AS counted
            WHERE request.id = counted.id
            """, [numbers])
        try db.run(
            """
            INSERT INTO detail (id, session, state, priority, received, isFinishing, updated)
            SELECT download.id, request.session, 'queued', request.priority, 0, 0, request.created
            FROM json_each(?) CROSS JOIN download ON download.id = value
                LEFT JOIN request ON request.id = download.request
            WHERE NOT EXISTS (SELECT 1 FROM detail WHERE detail.id = download.id)
            """, [numbers])
    }

    func makeQueued(of session: String, limit: Int) throws {
        try make(
            db.values(
                """
                SELECT download.id FROM request INDEXED BY requestQueued
                    CROSS JOIN download ON download.id BETWEEN request.first AND request.last
                WHERE request.queued > 0 AND request.session = ? AND download.request = request.id
                    AND NOT EXISTS (SELECT 1 FROM detail WHERE detail.id = download.id)
                LIMIT ?
                """, [session, limit]))
    }

    /// Removes downloads and logs it. Their rows stay without their details for the log, until ``forgetRemoved()``.
    func remove(_ ids: [DownloadID], at time: Int64) throws {
        try make(ids)
        try EventLog(db: db).note(.removed, of: ids, at: time)
        try db.run(
            """
            UPDATE OR FAIL detail SET state = 'removed', session = NULL, stateDetail = NULL, resume = NULL,
                attempts = NULL, completed = NULL, metrics = NULL WHERE id IN (SELECT value FROM json_each(?))
            """, [JSONWriter.array(ids)])
    }

    /// Deletes the rows of removed downloads that no event of the log needs any more, and their requests that no download
    /// has any more.
    func forgetRemoved() throws {
        if try db.row("SELECT 1 FROM \(RowSet.removed) LIMIT 1") == nil { return }
        let end = try db.value("SELECT min(download) FROM event WHERE batch IS NOT NULL") ?? Int64.max
        let requests: [Int64] = try db.values(
            """
            SELECT DISTINCT request FROM \(RowSet.removed.table) CROSS JOIN download ON download.id = detail.id
            WHERE \(RowSet.removed.condition) AND detail.id < ?
            """, [end])
        for table in ["download", "detail"] {
            try db.run("DELETE FROM \(table) WHERE id IN (SELECT id FROM \(RowSet.removed) AND id < ?)", [end])
        }
        try db.run(
            """
            DELETE FROM request WHERE id IN (SELECT value FROM json_each(?)) AND queued <= 0 AND NOT EXISTS (
                SELECT 1 FROM download
                WHERE download.id BETWEEN request.first AND request.last AND download.request = request.id)
            """, [JSONWriter.array(requests)])
        try HashSegments(db: db).forget()
    }
}
