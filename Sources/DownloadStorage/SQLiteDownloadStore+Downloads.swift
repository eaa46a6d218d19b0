import DownloadCore
import Foundation

/// Adding, reading and changing downloads. Each call is one transaction.
extension SQLiteDownloadStore {
    package func add(_ requests: RequestList, session: String) async throws -> [AddedDownload] {
        if requests.isEmpty { return [] }
        let runs = AddedRun.runs(of: requests)
        return try await owned(by: session, durably: true) { owned in
            try Schema.requireUnchanged(owned.db)
            var added: [AddedDownload] = []
            added.reserveCapacity(requests.count)
            for run in runs { try owned.add(run, to: &added) }
            return added
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

    /// Runs `body` in one transaction of a session that takes, changes or removes downloads.
    private func owned<Value: Sendable>(
        by session: String, durably: Bool = false, _ body: @escaping @Sendable (inout OwnedRows) throws -> Value
    ) async throws -> Value {
        try await write(durably: durably) { [coder, isAlive, time] db in
            let ownership = DownloadOwnership(session: session, isAlive: isAlive)
            var rows = try OwnedRows(db, coder: coder, ownership: ownership, now: time.date.stored)
            return try body(&rows)
        }
    }

    // MARK: Reading

    package func records(_ selection: DownloadSelection) async throws -> [DownloadRecord] {
        try await read { [coder] db in try StoredRows(db: db, coder: coder).records(selection) }
    }

    package func queued(
        session: String, after position: QueuePosition?, excluding prefixes: [String], limit: Int
    ) async throws -> [DownloadEntry] {
        try await read { [coder] db in
            try StoredRows(db: db, coder: coder).queued(session, after: position, excluding: prefixes, limit)
        }
    }
}
