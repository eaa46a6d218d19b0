import DownloadCore
import Foundation
import GRDB

/// The owners of downloads. Each call is one transaction.
extension SQLiteDownloadStore {
    package func claim(
        _ ids: [DownloadID], session: String, includingCompleted: Bool
    ) async throws -> [ClaimedDownload] {
        try await write { [self] db in
            var ownership = DownloadOwnership(session: session, isAlive: isAlive)
            try IntentRow.settle(db) { ownership.isDead($0) }
            try ItemPromotion.promote(ids, db)
            let now = time.date.stored
            return try stored(ids, in: db).map { found in
                let record = found.record
                if ownership.standing(of: found.kind, owner: record.session) == .busy { return .running(record) }
                if let damage = found.damage { throw damage }
                if record.state == .completed, !includingCompleted { return .completed(record) }
                return .claimed(try hand(record, to: session, at: now, db))
            }
        }
    }

    package func remove(
        _ ids: [DownloadID], session: String, deleting: @escaping @Sendable (DownloadRecord) -> Void
    ) async throws -> [DownloadRecord] {
        try await write { [self] db in
            var ownership = DownloadOwnership(session: session, isAlive: isAlive)
            try IntentRow.settle(db) { ownership.isDead($0) }
            try ItemPromotion.promote(ids, db)
            let found = try stored(ids, in: db)
            try refuseForeign(found, &ownership)
            let statement = try db.cachedStatement(sql: "DELETE FROM download WHERE id = ?")
            return try found.map { download in
                deleting(download.record)
                try statement.execute(arguments: [download.record.id])
                return download.record
            }
        }
    }

    package func change(
        _ ids: [DownloadID], _ change: DownloadChange, session: String
    ) async throws -> [ChangedRecord] {
        try await write { [self] db in
            var ownership = DownloadOwnership(session: session, isAlive: isAlive)
            try IntentRow.settle(db) { ownership.isDead($0) }
            try ItemPromotion.promote(ids, db)
            let now = time.date.stored
            let found = try stored(ids, in: db)
            try refuseForeign(found, &ownership)
            if let damage = found.lazy.compactMap(\.damage).first { throw damage }
            return try found.map { download in
                var record = download.record
                guard record.apply(change, for: session, at: now) else {
                    return ChangedRecord(record: record, didChange: false)
                }
                try replace(download.record, by: record, db)
                return ChangedRecord(record: record, didChange: true)
            }
        }
    }

    /// Throws if another live session runs or owns one of the downloads.
    private func refuseForeign(_ found: [StoredDownload], _ ownership: inout DownloadOwnership) throws {
        for download in found {
            if let holder = ownership.foreignHolder(of: download.kind, owner: download.record.session) {
                throw DownloadError.sessionUnavailable(.ownedElsewhere(download.record.id, session: holder))
            }
        }
    }

    /// Writes the record as queued for `session`, or as paused if it is to be held back.
    func hand(
        _ old: DownloadRecord, to session: String, at now: Date, holdsBack: Bool = false, _ db: Database
    ) throws -> DownloadRecord {
        var record = old
        record.queue(for: session, at: now, holdsBack: holdsBack)
        try replace(old, by: record, db)
        return record
    }

    private func replace(_ old: DownloadRecord, by record: DownloadRecord, _ db: Database) throws {
        guard try RowWriter(db).update(DownloadRow(record, coder: coder), ownedBy: old.session) else {
            // The transaction has read the owner, so the update fails only if the column has no text.
            throw StoredDownload.failure(record.id, .session)
        }
    }
}
