import DownloadCore
import GRDB

/// The queued downloads of one session that have no row of `detail`, by priority and order.
struct RequestQueue {
    private struct Range {
        let request: Int64
        let first: DownloadID
        let last: DownloadID
    }

    private let db: Database
    private let ranges: [Range]

    /// - Parameter position: Only downloads after this position are read.
    init(session: String, after position: QueuePosition? = nil, _ db: Database) throws {
        self.db = db
        let statement = try db.cachedStatement(
            sql: """
                SELECT id, priority, first, last FROM request INDEXED BY requestQueued
                WHERE queued > 0 AND session = ? ORDER BY priority DESC, first
                """)
        ranges = try Row.fetchAll(statement, arguments: [session]).compactMap { row in
            let (priority, first, last): (Int, DownloadID, DownloadID) = (row[1], row[2], row[3])
            guard let position, priority >= position.priority else {
                return Range(request: row[0], first: first, last: last)
            }
            if priority > position.priority || last <= position.id { return nil }
            return Range(request: row[0], first: max(first, position.id + 1), last: last)
        }
    }

    /// Returns the first readable downloads.
    /// - Parameters:
    ///   - condition: SQL that is appended to the query, with its arguments.
    func entries(
        _ limit: Int, _ coder: RequestCoder, where condition: String = "", _ arguments: StatementArguments = []
    ) throws -> [DownloadEntry] {
        var entries: [DownloadEntry] = []
        func select(_ columns: String, from first: DownloadID, of range: Range) throws -> RowCursor {
            let statement = try db.cachedStatement(
                sql: """
                    SELECT \(columns) FROM \(StoredColumns.queued) AND download.request = ? \(condition)
                    ORDER BY download.id
                    """)
            return try Row.fetchCursor(statement, arguments: [first, range.last, range.request] + arguments)
        }
        for range in ranges where entries.count < limit {
            // The downloads of a request differ only in their numbers and URLs, so one of them is read whole.
            var template: DownloadEntry?
            let whole = try select(StoredColumns.all, from: range.first, of: range)
            while template == nil, entries.count < limit, let row = try whole.next() {
                let stored = try StoredDownload(row, coder: coder)
                if stored.damage != nil { continue }
                let entry = DownloadEntry(stored.record)
                entries.append(entry)
                if entry.isSourceItsURL { template = entry }
            }
            guard let template, entries.count < limit else { continue }
            let rest = try select("download.id, download.url", from: template.id + 1, of: range)
            while entries.count < limit, let row = try rest.next() {
                guard case .success(let (url, _)) = SourceURL.parse(row[1] ?? "") else { continue }
                entries.append(DownloadEntry(id: row[0], url: url, like: template))
            }
        }
        return entries
    }

    /// Merges two queues that are both sorted by priority and number.
    static func merged(_ rows: [DownloadEntry], _ others: [DownloadEntry], _ limit: Int) -> [DownloadEntry] {
        if others.isEmpty { return rows }
        if rows.isEmpty { return others }
        return Array((rows + others).sorted { (-$0.priority, $0.id) < (-$1.priority, $1.id) }.prefix(limit))
    }
}
