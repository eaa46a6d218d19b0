import DownloadCore
import GRDB

extension SQLiteDownloadStore {
    package func records(_ selection: DownloadSelection) async throws -> [DownloadRecord] {
        try await read { [self] db in
            switch selection.which {
            case .ids(let ids):
                return try stored(ids, in: db).map(\.record).newest(selection.limit)
            case .states(let kinds):
                return try listed(selection, of: kinds, in: db)
            case .file(let folder, let name):
                return try records(in: folder, named: name, in: db).newest(selection.limit)
            case .all:
                return try listed(selection, in: db)
            }
        }
    }

    package func queued(session: String, after position: QueuePosition?, limit: Int) async throws -> [DownloadRecord] {
        try await read { [self] db in
            var records: [DownloadRecord] = []
            // The rest of the priority at which the last read ended comes first, then the lower priorities. Each query
            // reads a range of the index.
            if let position {
                try take(
                    "priority = ? AND id > ?", [session, position.priority, position.id], limit, into: &records, db)
                try take("priority < ?", [session, position.priority], limit, into: &records, db)
            } else {
                try take("true", [session], limit, into: &records, db)
            }
            let items = try ItemQueue(session: session, after: position, db).items(limit, coder)
            return ItemQueue.merged(records, items, limit)
        }
    }

    /// Appends the queued rows within `range` until there are `limit` records.
    private func take(
        _ range: String, _ arguments: StatementArguments, _ limit: Int, into records: inout [DownloadRecord],
        _ db: Database
    ) throws {
        let statement = try db.cachedStatement(
            sql: """
                SELECT \(RowReader.columns) FROM \(RowSet.queued) AND session = ? AND \(range)
                ORDER BY priority DESC, id
                """)
        let rows = try Row.fetchCursor(statement, arguments: arguments)
        while records.count < limit, let row = try rows.next() {
            let stored = try StoredDownload(row, coder: coder)
            if stored.damage == nil { records.append(stored.record) }
        }
    }

    /// Returns each download once, in the order of the ids. Throws if an id is unknown.
    func stored(_ ids: [DownloadID], in db: Database) throws -> [StoredDownload] {
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
        _ selection: DownloadSelection, of kinds: Set<DownloadState.Kind>, in db: Database
    ) throws -> [DownloadRecord] {
        let order = Self.order(selection)
        let cursors = try kinds.map { kind in
            let statement = try db.cachedStatement(
                sql: """
                    SELECT \(RowReader.columns) FROM \(RowSet.state(kind)) AND id > ?
                    ORDER BY id \(order)
                    """)
            return RowSource(try Row.fetchCursor(statement, arguments: [selection.after ?? 0]))
        }
        let items = try ListedItems(selection, in: db).sources(of: kinds)
        return try merged(cursors + items, selection) { kinds.contains($0.state.kind) }
    }

    /// Merges sources of which each has the order of the selection.
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
    private func records(in folder: String, named name: String, in db: Database) throws -> [DownloadRecord] {
        let statement = try db.cachedStatement(
            sql: "SELECT \(RowReader.columns) FROM download WHERE folder = ? AND fileName = ? ORDER BY +id")
        let items = try db.cachedStatement(sql: "SELECT \(ItemRows.columns) FROM \(ItemRows.named)")
        let found =
            try Row.fetchAll(statement, arguments: [folder, name]) + Row.fetchAll(items, arguments: [folder, name])
        return try found.map { try StoredDownload($0, coder: coder).record }.sorted { $0.id < $1.id }
    }

    private static func order(_ selection: DownloadSelection) -> String { selection.sqlOrder }

    private func listed(_ selection: DownloadSelection, in db: Database) throws -> [DownloadRecord] {
        let statement = try db.cachedStatement(
            sql: "SELECT \(RowReader.columns) FROM download WHERE id > ? ORDER BY id \(Self.order(selection))")
        let rows = RowSource(try Row.fetchCursor(statement, arguments: [selection.after ?? 0]))
        return try merged([rows, ListedItems(selection, in: db).all()], selection)
    }
}
