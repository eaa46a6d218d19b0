import DownloadCore
import Foundation
import GRDB

/// The log of events. Whoever changes a row of `detail` logs the change in the same transaction.
struct EventLog {
    let db: Database

    /// Logs an event of each of these downloads, in the order of their ids, with the states that they have now. A removed
    /// download has no state.
    /// - Parameter session: The session of the events of downloads that belong to none.
    func note(_ kind: LoggedEvent.Kind, of ids: [DownloadID], session: String? = nil, at time: Int64) throws {
        try db.run(
            """
            INSERT INTO event (time, kind, download, name, url, session, state, stateDetail, received, total)
            SELECT ?1, ?2, download.id, coalesce(detail.fileName, request.askedName), download.url,
                coalesce(CASE WHEN detail.id IS NULL THEN request.session ELSE detail.session END, ?3),
                CASE WHEN ?2 <> 'removed' THEN CASE WHEN detail.id IS NULL THEN 'queued' ELSE detail.state END END,
                CASE WHEN ?2 <> 'removed' THEN detail.stateDetail END, coalesce(detail.received, 0), detail.total
            FROM download LEFT JOIN request ON request.id = download.request
                LEFT JOIN detail ON detail.id = download.id
            WHERE download.id IN (SELECT value FROM json_each(?4))
            """, [time, kind.rawValue, session, JSONWriter.array(ids)])
    }

    func events(after cursor: EventCursor, limit: Int) throws -> [LoggedEvent] {
        let rows = try db.rows("SELECT \(EventReader.columns) FROM event WHERE seq > ? ORDER BY seq", [cursor])
        var events: [LoggedEvent] = []
        while events.count < limit, let row = try rows.next() {
            events += try EventReader(row: row).events(after: cursor, limit: limit - events.count, db)
        }
        return events
    }

    func bounds() throws -> (dropped: EventCursor, last: EventCursor) {
        let limits = try db.row(
            """
            SELECT (SELECT seq FROM sqlite_sequence WHERE name = 'event'),
                (SELECT seq - \(EventBatch.span) + 1 FROM event ORDER BY seq LIMIT 1)
            """)
        guard let row = limits else { return (0, 0) }
        let last: EventCursor = row[0] ?? 0
        let first: EventCursor? = row[1]
        return (first.map { $0 - 1 } ?? last, last)
    }

    private static let droppedAtOnce: EventCursor = 20_000

    /// Deletes the oldest events. One call deletes only a limited number, so that other processes do not wait long for
    /// the database. Returns whether at most `count` events are left.
    func dropStep(keeping count: Int) throws -> Bool {
        let bounds = try bounds()
        let end = bounds.last - EventCursor(max(0, count))
        let step = min(end, bounds.dropped + Self.droppedAtOnce)
        if step > bounds.dropped {
            try db.run("DELETE FROM event WHERE seq <= ?", [step])
            try EventBatch.cutFirst(at: step, db)
        }
        if step == end { try Details(db: db).forgetRemoved() }
        return step == end
    }
}

/// A reader of one row of the log. It checks the type of every column, because the store may be damaged.
private struct EventReader {
    private enum Column: Int, CaseIterable {
        case seq, time, kind, download, name, url, session, state, stateDetail, received, total, batch
    }

    static let columns = Column.allCases.map { "\($0)" }.joined(separator: ", ")

    let row: Row

    /// Returns the first events of this row that come after a cursor. Events without a readable kind or download are left
    /// out, and unreadable values of other columns, too.
    func events(after cursor: EventCursor, limit: Int, _ db: Database) throws -> [LoggedEvent] {
        guard let last: EventCursor = value(.seq), let word: String = value(.kind),
            let kind = LoggedEvent.Kind(rawValue: word)
        else { return [] }
        guard let batch: String = value(.batch) else {
            let only = event(
                last, kind, of: value(.download), value(.url), value(.name), received: value(.received) ?? 0,
                total: value(.total))
            return only.map { [$0] } ?? []
        }
        let count = try EventBatch.count(of: batch, db)
        var events: [LoggedEvent] = []
        var next = max(0, count - Int(clamping: last - max(0, cursor)))
        // Items that cannot be read make no events, so there may be too few after one read.
        while events.count < limit, next < count {
            let items = try EventBatch.items(batch, from: next, count: limit - events.count, db)
            if items.isEmpty { break }
            for (index, item) in items.enumerated() {
                // When the download was added, the file was not known yet.
                let fileName = kind == .added ? nil : String.fromDatabaseValue(item[3])
                let bytes = kind == .added ? nil : Int64.fromDatabaseValue(item[4])
                let event = event(
                    last - EventCursor(count - 1 - next - index), kind, of: DownloadID.fromDatabaseValue(item[0]),
                    String.fromDatabaseValue(item[1]), fileName ?? String.fromDatabaseValue(item[2]),
                    received: kind == .completed ? bytes ?? 0 : 0, total: bytes)
                if let event { events.append(event) }
            }
            next += items.count
        }
        return events
    }

    private func event(
        _ cursor: EventCursor, _ kind: LoggedEvent.Kind, of id: DownloadID?, _ url: String?, _ name: String?,
        received: Int64, total: Int64?
    ) -> LoggedEvent? {
        guard let id else { return nil }
        let url = url ?? ""
        return LoggedEvent(
            cursor: cursor, time: DownloadRow.date(value(.time) ?? 0), kind: kind, id: id,
            name: name ?? self.name(from: url), url: url, session: value(.session), state: state(), received: received,
            total: total)
    }

    private func value<Value: DatabaseValueConvertible>(_ column: Column) -> Value? {
        Value.fromDatabaseValue(row[column.rawValue])
    }

    /// Returns the name for a URL, as ``DownloadRecord/displayName`` does.
    private func name(from url: String) -> String {
        guard case .success(let parsed) = SourceURL.parse(url) else { return url }
        return FileNaming.name(fromPath: parsed.url.path) ?? parsed.url.host
    }

    private func state() -> DownloadState? {
        guard let word: String = value(.state), let kind = DownloadState.Kind(rawValue: word) else { return nil }
        let detail: String? = value(.stateDetail)
        return DownloadState(kind, detail: detail.flatMap { try? JSONText.decode(DownloadState.self, $0) })
    }
}
