import DownloadCore
import GRDB

/// The queue of one session, by priority and order.
extension StoredRows {
    /// Returns the queue after a position.
    func queued(session: String, after position: QueuePosition?, limit: Int) throws -> [DownloadEntry] {
        // The rest of the priority at which the last read ended comes first, then the lower priorities. Each query
        // reads a range of the index.
        let parts: [(condition: String, arguments: StatementArguments)] =
            if let position {
                [
                    ("detail.priority = ? AND detail.id > ?", [session, position.priority, position.id]),
                    ("detail.priority < ?", [session, position.priority]),
                ]
            } else {
                [("true", [session])]
            }
        var entries: [DownloadEntry] = []
        for (condition, arguments) in parts {
            try append(db.rows(Self.queue(condition), arguments), limit, to: &entries)
        }
        return merged(entries, try listed(session: session, after: position, limit: limit), limit)
    }

    /// Returns the queue without the URLs that have one of these prefixes.
    func queued(session: String, excluding prefixes: [String], limit: Int) throws -> [DownloadEntry] {
        // The character after "/" is "0", so a range of texts finds all URLs with the prefix. LIKE would need escapes.
        let condition = prefixes.map { _ in "AND NOT (download.url >= ? AND download.url < ?)" }.joined(separator: " ")
        let bounds = StatementArguments(prefixes.flatMap { [$0, $0.dropLast() + "0"] })
        var entries: [DownloadEntry] = []
        // The statement is not cached, because its text depends on the number of prefixes.
        let rows = try Row.fetchCursor(db, sql: Self.queue("true \(condition)"), arguments: [session] + bounds)
        try append(rows, limit, to: &entries)
        return merged(entries, try listed(session: session, limit: limit, where: condition, bounds), limit)
    }

    /// Returns the SQL for the queued rows of a session that match the condition.
    private static func queue(_ condition: String) -> String {
        """
        SELECT \(StoredColumns.all) FROM \(StoredColumns.downloads(.queued)) AND detail.session = ? AND \(condition)
        ORDER BY detail.priority DESC, detail.id
        """
    }

    /// Appends the readable rows until there are `limit` entries.
    private func append(_ rows: RowCursor, _ limit: Int, to entries: inout [DownloadEntry]) throws {
        while entries.count < limit, let row = try rows.next() {
            let stored = try StoredDownload(row, coder: coder)
            if stored.damage == nil { entries.append(DownloadEntry(stored.record)) }
        }
    }

    /// Returns the first readable downloads that have no row of `detail`.
    /// - Parameters:
    ///   - position: Only downloads after this position are read.
    ///   - condition: SQL that is appended to the query, with its arguments.
    private func listed(
        session: String, after position: QueuePosition? = nil, limit: Int, where condition: String = "",
        _ arguments: StatementArguments = []
    ) throws -> [DownloadEntry] {
        var entries: [DownloadEntry] = []
        let requests = try db.rows(
            """
            SELECT id, priority, first, last FROM request INDEXED BY requestQueued
            WHERE queued > 0 AND session = ? ORDER BY priority DESC, first
            """, [session])
        while entries.count < limit, let row = try requests.next() {
            let (request, priority, last): (Int64, Int, DownloadID) = (row[0], row[1], row[3])
            var first: DownloadID = row[2]
            if let position, priority >= position.priority {
                if priority > position.priority || last <= position.id { continue }
                first = max(first, position.id.advanced(by: 1))
            }
            func select(_ columns: String, from first: DownloadID) throws -> RowCursor {
                try db.rows(
                    """
                    SELECT \(columns) FROM \(StoredColumns.queued) AND download.request = ? \(condition)
                    ORDER BY download.id
                    """, [first, last, request] + arguments)
            }
            // The downloads of a request differ only in their numbers and URLs, so one of them is read whole.
            var template: DownloadEntry?
            let whole = try select(StoredColumns.all, from: first)
            while template == nil, entries.count < limit, let row = try whole.next() {
                let stored = try StoredDownload(row, coder: coder)
                if stored.damage != nil { continue }
                let entry = DownloadEntry(stored.record)
                entries.append(entry)
                if entry.isSourceItsURL { template = entry }
            }
            guard let template, entries.count < limit else { continue }
            let rest = try select("download.id, download.url", from: template.id.advanced(by: 1))
            while entries.count < limit, let row = try rest.next() {
                guard case .success(let (url, _)) = SourceURL.parse(row[1] ?? "") else { continue }
                entries.append(DownloadEntry(id: row[0], url: url, like: template))
            }
        }
        return entries
    }

    /// Merges two queues that are both sorted by priority and number.
    private func merged(_ rows: [DownloadEntry], _ others: [DownloadEntry], _ limit: Int) -> [DownloadEntry] {
        if others.isEmpty { return rows }
        if rows.isEmpty { return others }
        return Array((rows + others).sorted { (-$0.priority, $0.id) < (-$1.priority, $1.id) }.prefix(limit))
    }
}
