import DownloadCore
import GRDB

/// A reader of downloads. Each download is a row of `download` or an item (``ItemAdding``).
struct StoredRows {
    let db: Database
    let coder: RequestCoder

    func records(_ selection: DownloadSelection) throws -> [DownloadRecord] {
        switch selection.which {
        case .ids(let ids): try stored(ids).map(\.record).newest(selection.limit)
        case .states(let kinds): try listed(selection, of: kinds)
        case .file(let folder, let name): try records(in: folder, named: name).newest(selection.limit)
        case .all: try listed(selection)
        }
    }

    /// Returns the queue of a session after a position, in the order of priority and id.
    func queued(session: String, after position: QueuePosition?, limit: Int) throws -> [DownloadEntry] {
        var entries: [DownloadEntry] = []
        // The rest of the priority at which the last read ended comes first, then the lower priorities. Each query
        // reads a range of the index.
        if let position {
            try append("priority = ? AND id > ?", [session, position.priority, position.id], limit, to: &entries)
            try append("priority < ?", [session, position.priority], limit, to: &entries)
        } else {
            try append("true", [session], limit, to: &entries)
        }
        let items = try ItemQueue(session: session, after: position, db).items(limit, coder)
        return ItemQueue.merged(entries, items, limit)
    }

    /// Returns the queue of a session without the URLs that have one of these prefixes.
    func queued(session: String, excluding prefixes: [String], limit: Int) throws -> [DownloadEntry] {
        // The character after "/" is "0", so a range of texts finds all URLs with the prefix. LIKE would need escapes.
        let condition = prefixes.map { _ in "AND NOT (url >= ? AND url < ?)" }.joined(separator: " ")
        let bounds = prefixes.flatMap { [$0, $0.dropLast() + "0"] }
        var entries: [DownloadEntry] = []
        // The statement is not cached, because its text depends on the number of prefixes.
        try append(
            Row.fetchCursor(
                db, sql: Self.queue("true \(condition)"), arguments: StatementArguments([session] + bounds)),
            limit, to: &entries)
        let items = try ItemQueue(session: session, db).items(
            limit, coder, where: condition.replacing("url", with: "item.url"), StatementArguments(bounds))
        return ItemQueue.merged(entries, items, limit)
    }

    /// Returns the SQL for the queued rows of a session that match the condition.
    private static func queue(_ condition: String) -> String {
        """
        SELECT \(RowReader.columns) FROM \(RowSet.queued) AND session = ? AND \(condition)
        ORDER BY priority DESC, id
        """
    }

    /// Appends the queued rows that match the condition until there are `limit` entries.
    private func append(
        _ condition: String, _ arguments: StatementArguments, _ limit: Int, to entries: inout [DownloadEntry]
    ) throws {
        let statement = try db.cachedStatement(sql: Self.queue(condition))
        try append(Row.fetchCursor(statement, arguments: arguments), limit, to: &entries)
    }

    private func append(_ rows: RowCursor, _ limit: Int, to entries: inout [DownloadEntry]) throws {
        while entries.count < limit, let row = try rows.next() {
            let stored = try StoredDownload(row, coder: coder)
            if stored.damage == nil { entries.append(DownloadEntry(stored.record)) }
        }
    }

    /// Returns each download once, in the order in which `ids` names them. Throws if an id is unknown.
    func stored(_ ids: [DownloadID]) throws -> [StoredDownload] {
        let statement = try db.cachedStatement(sql: "SELECT \(RowReader.columns) FROM download WHERE id = ?")
        let item = try db.cachedStatement(sql: "SELECT \(ItemRows.columns) FROM \(ItemRows.byID)")
        return try ids.firstOccurrences.map { id in
            let row = try Row.fetchOne(statement, arguments: [id]) ?? Row.fetchOne(item, arguments: [id])
            guard let row else { throw DownloadError.noSuchDownload(id) }
            return try StoredDownload(row, coder: coder)
        }
    }

    /// Returns the newest downloads, or the first after an id. The rows and the items of each kind come in this order
    /// from their indexes, and are merged here.
    private func listed(
        _ selection: DownloadSelection, of kinds: Set<DownloadState.Kind>
    ) throws -> [DownloadRecord] {
        let cursors = try kinds.map { kind in
            let statement = try db.cachedStatement(
                sql: """
                    SELECT \(RowReader.columns) FROM \(RowSet.state(kind)) AND id > ?
                    ORDER BY id \(selection.sqlOrder)
                    """)
            return RowSource(try Row.fetchCursor(statement, arguments: [selection.after ?? 0]))
        }
        let items = try ListedItems(selection, in: db).sources(of: kinds)
        return try merged(cursors + items, selection) { kinds.contains($0.state.kind) }
    }

    /// Merges sources that are all in the order of the selection.
    /// - Parameter isMeant: Returns whether the record belongs to the selection. A damaged row counts as failed,
    ///   whatever its column says.
    private func merged(
        _ sources: [RowSource], _ selection: DownloadSelection, _ isMeant: (DownloadRecord) -> Bool = { _ in true }
    ) throws -> [DownloadRecord] {
        func next(_ source: RowSource) throws -> DownloadRecord? {
            while let row = try source.next() {
                let record = try StoredDownload(row, coder: coder).record
                if isMeant(record) { return record }
            }
            return nil
        }
        var heads = try sources.map(next)
        var records: [DownloadRecord] = []
        while records.count < selection.limit ?? .max {
            let waiting = heads.indices.filter { heads[$0] != nil }
            let first = waiting.min { one, other in
                let (one, other) = (heads[one]?.id ?? 0, heads[other]?.id ?? 0)
                return selection.after == nil ? one > other : one < other
            }
            guard let first, let record = heads[first] else { break }
            records.append(record)
            heads[first] = try next(sources[first])
        }
        return selection.after == nil ? records.reversed() : records
    }

    /// Returns the downloads whose files have this name in this folder. `+id` makes SQLite use the index of folders
    /// instead of the order of the ids.
    private func records(in folder: String, named name: String) throws -> [DownloadRecord] {
        let statement = try db.cachedStatement(
            sql: "SELECT \(RowReader.columns) FROM download WHERE folder = ? AND fileName = ? ORDER BY +id")
        let items = try db.cachedStatement(sql: "SELECT \(ItemRows.columns) FROM \(ItemRows.named)")
        let found =
            try Row.fetchAll(statement, arguments: [folder, name]) + Row.fetchAll(items, arguments: [folder, name])
        return try found.map { try StoredDownload($0, coder: coder).record }.sorted { $0.id < $1.id }
    }

    private func listed(_ selection: DownloadSelection) throws -> [DownloadRecord] {
        let statement = try db.cachedStatement(
            sql: "SELECT \(RowReader.columns) FROM download WHERE id > ? ORDER BY id \(selection.sqlOrder)")
        let rows = RowSource(try Row.fetchCursor(statement, arguments: [selection.after ?? 0]))
        return try merged([rows, ListedItems(selection, in: db).all()], selection)
    }
}
