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
    ) throws -> [QueuedEntry] {
        if lists.isEmpty { return [] }
        var entries: [QueuedEntry] = []
        let statement = try db.cachedStatement(
            sql: "SELECT \(ItemRows.columns) FROM \(ItemRows.queued) AND item.list = ? \(condition) ORDER BY item.id")
        for list in lists where entries.count < limit {
            let rows = try Row.fetchCursor(statement, arguments: [list.first, list.last, list.id] + arguments)
            // Queued items of a list differ only in their numbers and URLs, so one of them is decoded whole.
            var last: QueuedEntry?
            while entries.count < limit, let row = try rows.next() {
                let entry: QueuedEntry
                if let last {
                    let reader = RowReader(row: row)
                    guard let url = try? reader.url() else { continue }
                    entry = QueuedEntry(id: try reader.value(.id), url: url, like: last)
                } else {
                    let stored = try StoredDownload(row, coder: coder)
                    if stored.damage != nil { continue }
                    entry = QueuedEntry(stored.record)
                }
                entries.append(entry)
                if entry.isSourceItsURL { last = entry }
            }
        }
        return entries
    }

    /// Merges two queues that are both sorted by priority and number.
    static func merged(_ rows: [QueuedEntry], _ items: [QueuedEntry], _ limit: Int) -> [QueuedEntry] {
        if items.isEmpty { return rows }
        if rows.isEmpty { return items }
        return Array(
            (rows + items).sorted { (-$0.priority, $0.id) < (-$1.priority, $1.id) }.prefix(limit))
    }
}
