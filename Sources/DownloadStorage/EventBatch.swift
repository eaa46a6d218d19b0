import DownloadCore
import GRDB

/// A row of the log with the same event for many downloads. Each event has its own cursor, and the row has the last of
/// these cursors. The URL, the name and the size of an event are those that the download has when the event is read.
struct EventBatch {
    let kind: LoggedEvent.Kind
    let state: DownloadState.Kind
    let session: String?
    /// The time in milliseconds since 1970.
    let time: Int64

    /// Logs the event for these downloads, in this order.
    func log(_ ids: [DownloadID], _ db: Database) throws {
        guard let first = ids.min() else { return }
        try db.run(
            """
            INSERT INTO event (seq, time, kind, download, url, session, state, received, batch)
            VALUES (coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'event'), 0) + ?, ?, ?, ?, '', ?, ?, 0, ?)
            """, [ids.count, time, kind.rawValue, first, session, state.rawValue, JSONWriter.array(ids)])
    }

    /// Returns the downloads of the events of a row, in order, with their URLs, requested names, file names and sizes.
    /// - Parameter count: The number of events. A reader of the log asks for few at a time; a row may have thousands.
    static func items(_ batch: String, from first: Int, count: Int, _ db: Database) throws -> [Row] {
        let statement = try db.cachedStatement(
            sql: """
                SELECT value, download.url, request.askedName, detail.fileName, coalesce(detail.bytes, detail.total)
                FROM (SELECT key, value FROM json_each(?) WHERE key >= ? ORDER BY key LIMIT ?)
                    LEFT JOIN download ON download.id = value LEFT JOIN request ON request.id = download.request
                    LEFT JOIN detail ON detail.id = value
                ORDER BY key
                """)
        return try Row.fetchAll(statement, arguments: [batch, first, count])
    }

    /// Returns the number of events of a row; 0 if the row cannot be read.
    static func count(of batch: String, _ db: Database) throws -> Int {
        try db.value("SELECT CASE WHEN json_valid(?1) THEN json_array_length(?1) ELSE 0 END", [batch]) ?? 0
    }

    /// The SQL expression for the number of events in a row.
    static let span = "CASE WHEN batch IS NULL OR NOT json_valid(batch) THEN 1 ELSE json_array_length(batch) END"

    /// Removes the events up to this cursor from the first batch of the log.
    static func cutFirst(at number: EventCursor, _ db: Database) throws {
        guard let row = try db.row("SELECT seq, batch FROM event WHERE batch IS NOT NULL ORDER BY seq LIMIT 1"),
            let last = EventCursor.fromDatabaseValue(row[0]), let batch = String.fromDatabaseValue(row[1])
        else { return }
        let (count, left) = (try count(of: batch, db), Int(clamping: last - number))
        guard left < count else { return }
        let rest = try items(batch, from: count - left, count: left, db).map {
            DownloadID.fromDatabaseValue($0[0]) ?? 0
        }
        guard let lowest = rest.min() else { return }
        try db.run(
            "UPDATE event SET download = ?, batch = ? WHERE seq = ?", [lowest, JSONWriter.array(rest), last])
    }
}
