import DownloadCore
import GRDB

/// A reader of downloads.
struct StoredRows {
    let db: Database
    let coder: RequestCoder

    func records(_ selection: DownloadSelection) throws -> [DownloadRecord] {
        switch selection.which {
        case .ids(let ids): try stored(ids).map(\.record).newest(selection.limit)
        case .states(let kinds):
            try merged(try sources(of: kinds, selection), selection) { kinds.contains($0.state.kind) }
        case .file(let folder, let name): try records(in: folder, named: name).newest(selection.limit)
        case .all: try merged([try source(StoredColumns.downloads, selection)], selection)
        }
    }

    /// Returns each download once, in the order in which `ids` names them. Throws if an id is unknown.
    func stored(_ ids: [DownloadID]) throws -> [StoredDownload] {
        let statement = try db.cachedStatement(
            sql: "SELECT \(StoredColumns.all) FROM \(StoredColumns.downloads) AND download.id = ?")
        return try ids.firstOccurrences.map { id in
            guard let row = try Row.fetchOne(statement, arguments: [id]) else { throw DownloadError.noSuchDownload(id) }
            return try StoredDownload(row, coder: coder)
        }
    }

    // MARK: Lists

    private typealias Source = () throws -> Row?

    private func source(
        _ rows: String, id: String = "download.id", _ selection: DownloadSelection
    ) throws -> Source {
        try db.rows(
            "SELECT \(StoredColumns.all) FROM \(rows) AND \(id) > ? ORDER BY \(id) \(selection.sqlOrder)",
            [selection.after ?? 0]
        ).next
    }

    /// Returns a source for each state, and one for the queued downloads without a row of `detail`.
    private func sources(of kinds: Set<DownloadState.Kind>, _ selection: DownloadSelection) throws -> [Source] {
        let sources = try kinds.map {
            try source(StoredColumns.downloads(.state($0)), id: "detail.id", selection)
        }
        return kinds.contains(.queued) ? sources + [try queued(selection)] : sources
    }

    /// Returns the queued downloads without a row of `detail`, request by request. Only requests with such downloads are
    /// read.
    private func queued(_ selection: DownloadSelection) throws -> Source {
        let after = selection.after ?? 0
        let requests = try db.cachedStatement(
            sql: "SELECT id, first, last FROM request INDEXED BY requestQueued WHERE queued > 0 AND last > ?")
        var ranges = try Row.fetchAll(requests, arguments: [after]).map {
            row -> (request: Int64, first: DownloadID, last: DownloadID) in
            (row[0], max(row[1], after.advanced(by: 1)), row[2])
        }
        ranges.sort { selection.after == nil ? $0.first < $1.first : $0.first > $1.first }
        let statement = try db.cachedStatement(
            sql: """
                SELECT \(StoredColumns.all) FROM \(StoredColumns.queued) AND download.request = ?
                ORDER BY download.id \(selection.sqlOrder)
                """)
        var cursor: RowCursor?
        return {
            while true {
                if let row = try cursor?.next() { return row }
                guard let range = ranges.popLast() else { return nil }
                cursor = try Row.fetchCursor(statement, arguments: [range.first, range.last, range.request])
            }
        }
    }

    /// Merges sources that are all in the order of the selection: the newest downloads first, or the first after an id.
    /// - Parameter isMeant: Returns whether the record belongs to the selection. A damaged row counts as failed,
    ///   whatever its column says.
    private func merged(
        _ sources: [Source], _ selection: DownloadSelection, _ isMeant: (DownloadRecord) -> Bool = { _ in true }
    ) throws -> [DownloadRecord] {
        func next(_ source: Source) throws -> DownloadRecord? {
            while let row = try source() {
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

    private func records(in folder: String, named name: String) throws -> [DownloadRecord] {
        let statement = try db.cachedStatement(sql: "SELECT \(StoredColumns.all) FROM \(StoredColumns.named)")
        return try Row.fetchAll(statement, arguments: [folder, name])
            .map { try StoredDownload($0, coder: coder).record }.sorted { $0.id < $1.id }
    }
}

extension DownloadSelection {
    /// The order in SQL: the newest downloads first, unless the selection begins after a download.
    fileprivate var sqlOrder: String { after == nil ? "DESC" : "ASC" }
}
