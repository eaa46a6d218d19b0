import DownloadCore
import GRDB

/// The items (``ItemAdding``) among the downloads that one transaction saves. For each kind of event, all completed
/// items of a session share one row of the log (``EventBatch``). Each list is updated once.
struct SavedItems {
    /// The items of one list, and the session that they are queued for.
    private struct List {
        let id: Int64
        let items: ClosedRange<DownloadID>
        let session: String?
        var completed = 0
    }

    /// The items that one session saves.
    private struct Share {
        let session: String
        var completed: [DownloadID] = []
        /// The time of the last completed item.
        var time: Int64 = 0
        /// The items that are about to get their names.
        var intents: [IntentRow] = []
    }

    private let db: Database
    /// The statements are looked up once for the transaction, because the cache compares their whole texts.
    private var insertion: RowStatement
    private let forgetting: Statement
    private var lists: [List] = []
    /// The index of the last item's list. Most neighbouring items are of the same list.
    private var current = 0
    private var shares: [Share] = []
    /// The completed downloads that are not queued items.
    private var others: Set<DownloadID> = []

    init(_ db: Database) throws {
        self.db = db
        insertion = try RowStatement(db, sql: DoneRow.insertion)
        forgetting = try db.cachedStatement(sql: IntentRow.forgetting)
    }

    /// Returns whether the download is an item of the session. The item may be queued or not. If so, its list is the
    /// current one.
    private mutating func belongs(_ id: DownloadID, to session: String) throws -> Bool {
        if current >= lists.count || !lists[current].items.contains(id) {
            guard let index = try indexOfList(of: id) else { return false }
            current = index
        }
        return lists[current].session == session
    }

    private mutating func indexOfList(of id: DownloadID) throws -> Int? {
        if let known = lists.firstIndex(where: { $0.items.contains(id) }) { return known }
        let statement = try db.cachedStatement(
            sql: """
                SELECT list.id, list.first, list.last, list.session
                FROM item CROSS JOIN list ON list.id = item.list WHERE item.id = ?
                """)
        guard let row = try Row.fetchOne(statement, arguments: [id]) else { return nil }
        let (first, last): (DownloadID, DownloadID) = (row[1], row[2])
        guard first <= id, id <= last else { return nil }
        lists.append(List(id: row[0], items: first...last, session: row[3]))
        return lists.count - 1
    }

    private mutating func indexOfShare(of session: String) -> Int {
        if let known = shares.firstIndex(where: { $0.session == session }) { return known }
        shares.append(Share(session: session))
        return shares.count - 1
    }

    /// Finds out which downloads are queued items. Called before these downloads are recorded as completed. As a
    /// condition of each insertion, this took 3,000 instructions of a small file (callgrind).
    mutating func look(at completed: [DownloadID]) throws {
        others = completed.isEmpty ? [] : try ItemIntents.others(completed, db)
    }

    /// Records a completed item. Returns false if the download is not a queued item of the session.
    mutating func complete(_ row: DoneRow, of session: String) throws -> Bool {
        guard !others.contains(row.id), try belongs(row.id, to: session), try row.write(&insertion) else {
            return false
        }
        lists[current].completed += 1
        let share = indexOfShare(of: session)
        shares[share].completed.append(row.id)
        shares[share].time = row.updated
        return true
    }

    /// Records that the file of an item is about to get its name. ``finish(_:)`` writes the record. Returns false if
    /// the download was never an item of the session.
    mutating func intend(_ row: IntentRow, of session: String) throws -> Bool {
        guard try belongs(row.id, to: session) else { return false }
        shares[indexOfShare(of: session)].intents.append(row)
        return true
    }

    /// Forgets the intent of a download whose row of `download` or `done` was written.
    /// - Parameter isItem: Whether the download is still an item.
    func forgetIntent(of id: DownloadID, isItem: Bool, _ book: inout IntentBook) throws {
        guard let kept = book.remove(id) else { return }
        switch kept {
        case .row: try forgetting.execute(arguments: [id])
        case .lastOfBatch(let batch): try ItemIntents.delete(batch, db)
        case .oneOfBatch(let batch): if !isItem { try ItemIntents.remove(id, from: batch, db) }
        }
    }

    /// Turns an item of the session into a row of `download`. Returns false if the download is not an item of the
    /// session.
    mutating func promote(_ id: DownloadID, of session: String) throws -> Bool {
        guard try belongs(id, to: session) else { return false }
        try ItemPromotion.promote([id], db)
        return true
    }

    /// Writes the events, the counts and the intents of the whole transaction.
    /// - Parameter book: Records the intents.
    /// - Returns: The downloads whose intents could not be written, because they no longer belong to the session.
    func finish(_ book: inout IntentBook) throws -> Set<DownloadID> {
        let statement = try db.cachedStatement(sql: "UPDATE list SET queued = queued - ? WHERE id = ?")
        for list in lists where list.completed > 0 { try statement.execute(arguments: [list.completed, list.id]) }
        var lost: Set<DownloadID> = []
        for share in shares {
            let (session, ids, time) = (share.session, share.completed, share.time)
            try EventBatch(kind: .started, state: .running, session: session, time: time).log(ids, db)
            try EventBatch(kind: .completed, state: .completed, session: session, time: time).log(ids, db)
            lost.formUnion(try intend(share.intents, of: session, &book))
        }
        return lost
    }

    private func intend(_ rows: [IntentRow], of session: String, _ book: inout IntentBook) throws -> Set<DownloadID> {
        if rows.isEmpty { return [] }
        var lost: Set<DownloadID> = []
        // A download that is no longer a queued item gets its own row in `intent`, if it has a row in `download`.
        let others = try ItemIntents.others(rows.map(\.id), db)
        for row in rows where others.contains(row.id) {
            if try row.write(ownedBy: session, db) { book.add(row.id) } else { lost.insert(row.id) }
        }
        let items = others.isEmpty ? rows : rows.filter { !others.contains($0.id) }
        if !items.isEmpty { book.add(items.map(\.id), try ItemIntents.insert(items, of: session, db)) }
        return lost
    }
}
