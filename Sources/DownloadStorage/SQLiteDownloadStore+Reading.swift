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
                return try newest(selection.limit, among: kinds, in: db)
            case .all:
                return try newest(selection.limit, among: nil, in: db)
            }
        }
    }

    package func queued(session: String, after position: QueuePosition?, limit: Int) async throws -> [DownloadRecord] {
        try await perform { [self] db in
            // `priority <= ?` is the range of the index; the next line only skips what was taken of its first priority.
            let statement = try db.cachedStatement(
                sql: """
                    SELECT \(RowReader.columns) FROM download
                    WHERE \(Self.isActive) AND session = ? AND priority <= ?
                        AND (priority < ? OR id > ?) AND state = 'queued'
                    ORDER BY priority DESC, id
                    """)
            let priority = position?.priority ?? Int.max
            let rows = try Row.fetchCursor(
                statement, arguments: [session, priority, priority, position?.id ?? 0])
            var records: [DownloadRecord] = []
            while records.count < limit, let row = try rows.next() {
                let stored = try StoredDownload(row, coder: coder)
                if stored.damage == nil { records.append(stored.record) }
            }
            return records
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

    /// The newest `limit` (nil: all), by id.
    private func newest(
        _ limit: Int?, among kinds: Set<DownloadState.Kind>?, in db: Database
    ) throws -> [DownloadRecord] {
        let condition = kinds.map { kinds in
            let words = kinds.map { "'\($0.rawValue)'" }.sorted().joined(separator: ", ")
            return "WHERE state IN (\(words))"
        }
        let statement = try db.cachedStatement(
            sql: "SELECT \(RowReader.columns) FROM download \(condition ?? "") ORDER BY id DESC")
        let rows = try Row.fetchCursor(statement)
        var records: [DownloadRecord] = []
        while records.count < limit ?? .max, let row = try rows.next() {
            let record = try StoredDownload(row, coder: coder).record
            if kinds?.contains(record.state.kind) ?? true { records.append(record) }
        }
        return records.reversed()
    }
}
