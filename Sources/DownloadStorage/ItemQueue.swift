import DownloadCore
import GRDB

/// The queued items of one session, by priority and order.
struct ItemQueue {
    private struct List {
        let id: Int64
        let priority: Int
        let first: DownloadID
        let last: DownloadID
    }

    private let db: Database
    private let lists: [List]

    /// - Parameter position: Only items after this position are read.
    init(session: String, after position: QueuePosition? = nil, _ db: Database) throws {
        self.db = db
        let statement = try db.cachedStatement(
            sql: """
                SELECT id, priority, first, last FROM list INDEXED BY listQueued
                WHERE queued > 0 AND session = ? ORDER BY priority DESC, first
                """)
        lists = try Row.fetchAll(statement, arguments: [session]).compactMap { row in
            let id: Int64 = row[0]
            let (priority, first, last): (Int, DownloadID, DownloadID) = (row[1], row[2], row[3])
            guard let position, priority >= position.priority else {
                return List(id: id, priority: priority, first: first, last: last)
            }
            if priority > position.priority || last <= position.id { return nil }
            return List(id: id, priority: priority, first: max(first, position.id + 1), last: last)
        }
    }

    /// Returns the first readable items.
    /// - Parameters:
    ///   - condition: SQL that is appended to the query, with its arguments.
    func items(
        _ limit: Int, _ coder: RequestCoder, where condition: String = "", _ arguments: StatementArguments = []
    ) throws -> [DownloadEntry] {
        if lists.isEmpty { return [] }
        var entries: [DownloadEntry] = []
        func select(_ columns: String, from first: DownloadID, of list: List) throws -> RowCursor {
            let statement = try db.cachedStatement(
                sql: "SELECT \(columns) FROM \(ItemRows.queued) AND item.list = ? \(condition) ORDER BY item.id")
            return try Row.fetchCursor(statement, arguments: [first, list.last, list.id] + arguments)
        }
        for list in lists where entries.count < limit {
            // Queued items of a list differ only in their numbers and URLs, so one of them is read whole.
            var template: DownloadEntry?
            let whole = try select(ItemRows.columns, from: list.first, of: list)
            while template == nil, entries.count < limit, let row = try whole.next() {
                let stored = try StoredDownload(row, coder: coder)
                if stored.damage != nil { continue }
                let entry = DownloadEntry(stored.record)
                entries.append(entry)
                if entry.isSourceItsURL { template = entry }
            }
            guard let template, entries.count < limit else { continue }
            let rest = try select("item.id, item.url", from: template.id + 1, of: list)
            while entries.count < limit, let row = try rest.next() {
                guard case .success(let (url, _)) = SourceURL.parse(row[1] ?? "") else { continue }
                entries.append(DownloadEntry(id: row[0], url: url, like: template))
            }
        }
        return entries
    }

    /// Merges two queues that are both sorted by priority and number.
    static func merged(_ rows: [DownloadEntry], _ items: [DownloadEntry], _ limit: Int) -> [DownloadEntry] {
        if items.isEmpty { return rows }
        if rows.isEmpty { return items }
        return Array(
            (rows + items).sorted { (-$0.priority, $0.id) < (-$1.priority, $1.id) }.prefix(limit))
    }
}
