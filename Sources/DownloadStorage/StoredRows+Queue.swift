import DownloadCore
import GRDB

/// The queue of one session, by priority and order.
extension StoredRows {
    /// Returns the queue after a position, without the URLs that have one of these prefixes.
    func queued(
        _ session: String, after position: QueuePosition?, excluding prefixes: [String], _ limit: Int
    ) throws -> [DownloadEntry] {
        // The character after "/" is "0", so a range of texts finds all URLs with the prefix. LIKE would need escapes.
        let others = prefixes.map { _ in "AND NOT (download.url >= ? AND download.url < ?)" }.joined(separator: " ")
        let bounds = StatementArguments(prefixes.flatMap { [$0, $0.dropLast() + "0"] })
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
            let sql: String = """
                SELECT \(StoredColumns.all) FROM \(StoredColumns.downloads(.queued)) AND detail.session = ?
                    AND \(condition) \(others)
                ORDER BY detail.priority DESC, detail.id
                """
            // Statements whose text depends on the number of prefixes are not cached.
            let rows =
                prefixes.isEmpty
                ? try db.rows(sql, arguments) : try Row.fetchCursor(db, sql: sql, arguments: arguments + bounds)
            while entries.count < limit, let row = try rows.next() {
                let stored = try StoredDownload(row, coder: coder)
                if stored.damage == nil { entries.append(DownloadEntry(stored.record)) }
            }
        }
        return merged(entries, try listed(session, after: position, limit, where: others, bounds), limit)
    }

    /// Returns the first readable downloads that have no row of `detail`.
    private func listed(
        _ session: String, after position: QueuePosition?, _ limit: Int, where condition: String,
        _ arguments: StatementArguments
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
