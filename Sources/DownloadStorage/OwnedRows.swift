import DownloadCore
import Foundation
import GRDB

/// The downloads that a session claims, changes and removes in one transaction. The rules of ownership
/// (``DownloadOwnership``) decide which downloads the session may use.
struct OwnedRows {
    let db: Database
    let coder: RequestCoder
    /// The time of the transaction.
    let now: Date
    private var ownership: DownloadOwnership
    private var writer: RowWriter

    /// First writes the intents of dead sessions to the rows of their downloads (``Intents``).
    init(_ db: Database, coder: RequestCoder, ownership: DownloadOwnership, now: Date) throws {
        var ownership = ownership
        try Intents.settle(db, coder: coder) { ownership.isDead($0) }
        self.db = db
        writer = RowWriter(db, coder: coder)
        self.coder = coder
        self.ownership = ownership
        self.now = now
    }

    var session: String { ownership.session }

    /// Returns whether the session may take the download.
    mutating func isFree(_ download: StoredDownload) -> Bool {
        ownership.isFree(download.kind, owner: download.record.session)
    }

    mutating func claim(_ ids: [DownloadID], includingCompleted: Bool) throws -> [ClaimedDownload] {
        try StoredRows(db: db, coder: coder).stored(ids).map { found in
            if !isFree(found) { return ClaimedDownload(.running, found.record) }
            if let damage = found.damage { throw damage }
            if !includingCompleted, found.record.state == .completed {
                return ClaimedDownload(.completed, found.record)
            }
            return ClaimedDownload(.claimed, try hand(found.record))
        }
    }

    /// - Parameter deleting: Called with each record before its row is deleted.
    mutating func remove(_ ids: [DownloadID], deleting: (DownloadRecord) -> Void) throws -> [DownloadRecord] {
        let found = try permitted(ids).map(\.record)
        for record in found { deleting(record) }
        try Details(db: db).remove(found.map(\.id), at: DownloadRow.milliseconds(now))
        return found
    }

    mutating func change(_ ids: [DownloadID], _ change: DownloadChange) throws -> [ChangedRecord] {
        let found = try permitted(ids)
        if let damage = found.lazy.compactMap(\.damage).first { throw damage }
        return try found.map { download in
            var record = download.record
            guard record.apply(change, for: session, at: now) else {
                return ChangedRecord(record: record, didChange: false)
            }
            try check(writer.update(DownloadRow(record, coder: coder), ownedBy: download.record.session), record)
            return ChangedRecord(record: record, didChange: true)
        }
    }

    /// Writes the record as queued for the session, or as paused if `holdsBack` is true.
    /// - Parameter isDamaged: Whether everything in the store is replaced by the record.
    mutating func hand(
        _ old: DownloadRecord, isDamaged: Bool = false, holdsBack: Bool = false
    ) throws -> DownloadRecord {
        var record = old
        record.queue(for: session, at: now, holdsBack: holdsBack)
        try check(
            isDamaged
                ? writer.update(DownloadRow(record, coder: coder), ownedBy: old.session)
                : writer.queue(record, ownedBy: old.session), record)
        return record
    }

    /// Returns the downloads. Throws if another live session runs or owns one of them.
    private mutating func permitted(_ ids: [DownloadID]) throws -> [StoredDownload] {
        let found = try StoredRows(db: db, coder: coder).stored(ids)
        for download in found {
            if let holder = ownership.foreignHolder(of: download.kind, owner: download.record.session) {
                throw DownloadError.sessionUnavailable(.ownedElsewhere(download.record.id, session: holder))
            }
        }
        return found
    }

    /// Throws if a record was not written. The transaction has read the owner, so this only happens if the column
    /// `session` has a value that is not a text.
    private func check(_ isWritten: Bool, _ record: DownloadRecord) throws {
        if !isWritten { throw StoredDownload.failure(record.id, .session) }
    }
}
