import DownloadCore
import GRDB

extension SQLiteDownloadStore {
    package func queued(session: String, excluding prefixes: [String], limit: Int) async throws -> [DownloadRecord] {
        // The character after "/" is "0", so a range of texts finds all URLs with the prefix. LIKE would need escapes.
        let condition = prefixes.map { _ in "AND NOT (url >= ? AND url < ?)" }.joined(separator: " ")
        let bounds = prefixes.flatMap { [$0, $0.dropLast() + "0"] }
        return try await read { [self] db in
            let rows = try Row.fetchCursor(
                db,
                sql: """
                    SELECT \(RowReader.columns) FROM \(RowSet.queued) AND session = ? \(condition)
                    ORDER BY priority DESC, id
                    """, arguments: StatementArguments([session] + bounds))
            var records: [DownloadRecord] = []
            while records.count < limit, let row = try rows.next() {
                let stored = try StoredDownload(row, coder: coder)
                if stored.damage == nil { records.append(stored.record) }
            }
            let items = try ItemQueue(session: session, db).items(
                limit, coder, where: condition.replacing("url", with: "item.url"), StatementArguments(bounds))
            return ItemQueue.merged(records, items, limit)
        }
    }
}
