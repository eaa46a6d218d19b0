import DownloadCore
import GRDB

extension SQLiteDownloadStore {
    package func records(_ selection: DownloadSelection) async throws -> [DownloadRecord] {
        try await perform { [self] db in
            switch selection.which {
            case .ids(let ids):
                return try stored(ids, in: db).map(\.record).newest(selection.limit)
            case .states(let kinds):
                // A damaged row is told as failed, whatever its column says.
                return try listed(selection, among: kinds, in: db)
            case .all:
                return try listed(selection, among: nil, in: db)
            }
        }
    }

    package func queued(session: String, after position: QueuePosition?, limit: Int) async throws -> [DownloadRecord] {
        try await perform { [self] db in
            var records: [DownloadRecord] = []
            // What is left of the priority where the queue was left, then what is below: each a range of the index.
            if let position {
                try take(
                    "priority = ? AND id > ?", [session, position.priority, position.id], limit, into: &records, db)
                try take("priority < ?", [session, position.priority], limit, into: &records, db)
            } else {
                try take("true", [session], limit, into: &records, db)
            }
            return records
        }
    }

    /// Appends the queued rows within `range` until there are `limit` records.
    private func take(
        _ range: String, _ arguments: StatementArguments, _ limit: Int, into records: inout [DownloadRecord],
        _ db: Database
    ) throws {
        let statement = try db.cachedStatement(
            sql: """
                SELECT \(RowReader.columns) FROM download
                WHERE \(Self.isActive) AND session = ? AND state = 'queued' AND \(range)
                ORDER BY priority DESC, id
                """)
        let rows = try Row.fetchCursor(statement, arguments: arguments)
        while records.count < limit, let row = try rows.next() {
            let stored = try StoredDownload(row, coder: coder)
            if stored.damage == nil { records.append(stored.record) }
        }
    }

    /// Each id once, in the order asked; throws at the first unknown one.
    func stored(_ ids: [DownloadID], in db: Database) throws -> [StoredDownload] {
        let statement = try db.cachedStatement(sql: "SELECT \(RowReader.columns) FROM download WHERE id = ?")
        return try ids.firstOccurrences.map { id in
            guard let row = try Row.fetchOne(statement, arguments: [id]) else {
                throw DownloadError.noSuchDownload(id)
            }
            return try StoredDownload(row, coder: coder)
        }
    }

    /// By number: the newest, or the first behind a place.
    private func listed(
        _ selection: DownloadSelection, among kinds: Set<DownloadState.Kind>?, in db: Database
    ) throws -> [DownloadRecord] {
        var condition = "id > ?"
        if let kinds {
            let words = kinds.map { "'\($0.rawValue)'" }.sorted().joined(separator: ", ")
            condition += " AND state IN (\(words))"
        }
        let order = selection.after == nil ? "DESC" : "ASC"
        let statement = try db.cachedStatement(
            sql: "SELECT \(RowReader.columns) FROM download WHERE \(condition) ORDER BY id \(order)")
        let rows = try Row.fetchCursor(statement, arguments: [selection.after ?? 0])
        var records: [DownloadRecord] = []
        while records.count < selection.limit ?? .max, let row = try rows.next() {
            let record = try StoredDownload(row, coder: coder).record
            if kinds?.contains(record.state.kind) ?? true { records.append(record) }
        }
        return selection.after == nil ? records.reversed() : records
    }
}
