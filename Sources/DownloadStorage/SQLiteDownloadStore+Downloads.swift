import DownloadCore
import Foundation
import GRDB

/// Adding, reading and changing downloads. Each call is one transaction.
extension SQLiteDownloadStore {
    package func add(_ requests: RequestList, session: String) async throws -> [AddedDownload] {
        if requests.isEmpty { return [] }
        let runs = AddedRun.runs(of: requests)
        return try await owned(by: session, adding: requests.count) { owned in
            var adding = RowAdding(owned, count: requests.count)
            for run in runs { try adding.add(run) }
            return adding.added
        }
    }

    package func claim(
        _ ids: [DownloadID], session: String, includingCompleted: Bool
    ) async throws -> [ClaimedDownload] {
        try await owned(by: session) { try $0.claim(ids, includingCompleted: includingCompleted) }
    }

    package func remove(
        _ ids: [DownloadID], session: String, deleting: @escaping @Sendable (DownloadRecord) -> Void
    ) async throws -> [DownloadRecord] {
        try await owned(by: session) { try $0.remove(ids, deleting: deleting) }
    }

    package func change(
        _ ids: [DownloadID], _ change: DownloadChange, session: String
    ) async throws -> [ChangedRecord] {
        try await owned(by: session) { try $0.change(ids, change) }
    }

    /// Runs `body` in one transaction of a session that takes, adds, changes or removes downloads.
    /// - Parameter added: The number of downloads that the transaction adds. If there are any, it is durable.
    private func owned<Value: Sendable>(
        by session: String, adding added: Int = 0, _ body: @escaping @Sendable (inout OwnedRows) throws -> Value
    ) async throws -> Value {
        try await perform { [coder, isAlive, time] db in
            try db.withPages(for: added) {
                try db.immediately(durably: added > 0) {
                    let ownership = DownloadOwnership(session: session, isAlive: isAlive)
                    var rows = try OwnedRows(db, coder: coder, ownership: ownership, now: time.date.stored)
                    return try body(&rows)
                }
            }
        }
    }

    // MARK: Reading

    package func records(_ selection: DownloadSelection) async throws -> [DownloadRecord] {
        try await read { [coder] db in try StoredRows(db: db, coder: coder).records(selection) }
    }

    package func queued(session: String, after position: QueuePosition?, limit: Int) async throws -> [DownloadEntry] {
        try await read { [coder] db in
            try StoredRows(db: db, coder: coder).queued(session: session, after: position, limit: limit)
        }
    }

    package func queued(session: String, excluding prefixes: [String], limit: Int) async throws -> [DownloadEntry] {
        try await read { [coder] db in
            try StoredRows(db: db, coder: coder).queued(session: session, excluding: prefixes, limit: limit)
        }
    }
}

extension Database {
    /// The fewest added downloads for which more memory is worth setting.
    private static let many = 2_000

    /// Runs a transaction that adds downloads, with 8 MiB for the pages that it changes. With 2 MiB, SQLite writes a page
    /// and reads it again several times in one transaction, because the URLs are spread over the whole index. This and
    /// longer parts of lists (`ListReader`) saved 40 % of the time of adding a million URLs.
    fileprivate func withPages<Value>(for count: Int, _ body: () throws -> Value) throws -> Value {
        guard count >= Self.many, let usual = try Int.fetchOne(self, sql: "PRAGMA cache_size") else {
            return try body()
        }
        // A negative number is a size in KiB.
        try execute(sql: "PRAGMA cache_size = -8192")
        defer {
            // If this fails, the pages stay in memory until the store is closed.
            try? execute(sql: "PRAGMA cache_size = \(usual)")
        }
        return try body()
    }
}
