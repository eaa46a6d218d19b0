import DownloadCore
import GRDB

/// A source of rows from several cursors, one after another.
final class RowSource {
    private var cursor: RowCursor?
    private let following: () throws -> RowCursor?

    /// - Parameter following: Returns the next cursor, or nil after the last.
    init(_ cursor: RowCursor? = nil, following: @escaping () throws -> RowCursor? = { nil }) {
        self.cursor = cursor
        self.following = following
    }

    func next() throws -> Row? {
        while true {
            if let row = try cursor?.next() { return row }
            guard let next = try following() else { return nil }
            cursor = next
        }
    }
}

/// Reads those downloads of a selection that are stored as items (``ItemRows``) instead of rows of `download`. They are
/// sorted by id as ``DownloadSelection/sqlOrder`` says.
struct ListedItems {
    private let selection: DownloadSelection
    private let db: Database

    init(_ selection: DownloadSelection, in db: Database) {
        self.selection = selection
        self.db = db
    }

    private var after: DownloadID { selection.after ?? 0 }

    func all() throws -> RowSource { RowSource(try cursor(ItemRows.all, "item.id")) }

    /// Returns a source for the completed items and a source for the queued items, each only if `kinds` contains the
    /// state. Items have no other states.
    func sources(of kinds: Set<DownloadState.Kind>) throws -> [RowSource] {
        var sources: [RowSource] = []
        if kinds.contains(.completed) { sources.append(RowSource(try cursor(ItemRows.done, "done.id"))) }
        if kinds.contains(.queued) { sources.append(try queued()) }
        return sources
    }

    private func cursor(_ rows: String, _ id: String) throws -> RowCursor {
        let statement = try db.cachedStatement(
            sql: "SELECT \(ItemRows.columns) FROM \(rows) AND \(id) > ? ORDER BY \(id) \(selection.sqlOrder)")
        return try Row.fetchCursor(statement, arguments: [after])
    }

    /// Returns the queued items, list by list. Only lists with queued items are read.
    private func queued() throws -> RowSource {
        let lists = try db.cachedStatement(
            sql: "SELECT first, last FROM list INDEXED BY listQueued WHERE queued > 0 AND last > ?")
        var ranges = try Row.fetchAll(lists, arguments: [after]).map { row -> (first: DownloadID, last: DownloadID) in
            (max(row[0], after + 1), row[1])
        }
        ranges.sort { selection.after == nil ? $0.first < $1.first : $0.first > $1.first }
        let statement = try db.cachedStatement(
            sql: "SELECT \(ItemRows.columns) FROM \(ItemRows.queued) ORDER BY item.id \(selection.sqlOrder)")
        return RowSource {
            guard let range = ranges.popLast() else { return nil }
            return try Row.fetchCursor(statement, arguments: [range.first, range.last])
        }
    }
}

extension DownloadSelection {
    /// The order in SQL: the newest downloads first, unless the selection begins after a download.
    var sqlOrder: String { after == nil ? "DESC" : "ASC" }
}
