import DownloadCore
import Foundation
import GRDB

/// Changes of all downloads of a session at once. No row is read into memory, whatever their number.
extension SQLiteDownloadStore {
    package func releaseDeadSessions() async throws {
        let dead = try await read { [isAlive] db in
            try Self.owners(db).filter { owner in owner.map { !isAlive($0) } ?? true }
        }
        for owner in dead {
            try await move(.atWork, of: owner, to: .paused(.interrupted), ifDead: true)
            if owner.map(SessionIdentifier.isForeground) ?? true {
                try await move(.queued, of: owner, to: .paused(.interrupted), ifDead: true, includesRequests: true)
            }
        }
    }

    package func requeue(session: String) async throws {
        // The intents of the session's predecessor.
        try await write { [coder] db in try Intents.settle(db, coder: coder) { $0 == session } }
        try await move(.atWork, of: session, to: .queued)
        for reason in DownloadState.PauseReason.allCases where DownloadState.paused(reason).goesOnAlone {
            try await move(.paused, of: session, from: .paused(reason), to: .queued)
        }
    }

    package func pauseQueued(session: String, reason: DownloadState.PauseReason) async throws {
        try await move(.queued, of: session, to: .paused(reason), includesRequests: true)
    }

    package func queuedCount(session: String) async throws -> Int {
        try await read { db in
            // Usually there is only one queue. Then not every entry of the index must be compared.
            let isOnly: Bool? = try db.value(
                """
                SELECT (SELECT session FROM \(RowSet.queued) ORDER BY session, priority DESC LIMIT 1) IS ?1
                    AND (SELECT session FROM \(RowSet.queued) ORDER BY session DESC, priority LIMIT 1) IS ?1
                """, [session])
            let details: Int? =
                isOnly == true
                ? try db.value("SELECT count(*) FROM \(RowSet.queued)")
                : try db.value("SELECT count(*) FROM \(RowSet.queued) AND session = ?", [session])
            let others: Int? = try db.value(
                "SELECT sum(queued) FROM request INDEXED BY requestQueued WHERE queued > 0 AND session = ?", [session])
            return (details ?? 0) + (others ?? 0)
        }
    }

    package func removeEnded(before date: Date, limit: Int) async throws -> [DownloadRecord] {
        let (end, now) = (DownloadRow.milliseconds(date), DownloadRow.milliseconds(time.date))
        // Usually nothing is old enough, and a read does not wait for other processes.
        let hasAny = try await perform { db in
            try db.value("SELECT EXISTS (SELECT 1 FROM \(RowSet.ended) AND updated < ?)", [end]) ?? false
        }
        if !hasAny { return [] }
        return try await write { [coder] db in
            let ids: [DownloadID] = try db.values(
                "SELECT id FROM \(RowSet.ended) AND updated < ? ORDER BY updated, id LIMIT ?", [end, max(0, limit)])
            let records = try StoredRows(db: db, coder: coder).stored(ids).map(\.record)
            try Details(db: db).remove(ids, at: now)
            return records
        }
    }

    static let rowsMovedAtOnce = 10_000

    /// Moves the downloads of a session to another state. A paused download of a foreground session belongs to no session.
    /// A million rows take many seconds, and other processes do not wait that long. So the rows are moved in steps, and
    /// other processes have a turn between two steps.
    /// - Parameters:
    ///   - owner: The session; nil for downloads without a session.
    ///   - old: The exact state that the downloads must have; nil for every state in `rows`.
    ///   - ifDead: Whether to stop if the session is alive.
    ///   - includesRequests: Whether queued downloads without a row of `detail` get one first.
    private func move(
        _ rows: RowSet, of owner: String?, from old: DownloadState? = nil, to new: DownloadState, ifDead: Bool = false,
        includesRequests: Bool = false
    ) async throws {
        while true {
            let began = time.now
            let count = try await write { [coder, isAlive, time] db in
                if ifDead, let owner {
                    if isAlive(owner) { return 0 }
                    try Intents.settle(db, coder: coder) { $0 == owner }
                }
                if includesRequests, let owner {
                    try Details(db: db).makeQueued(of: owner, limit: Self.rowsMovedAtOnce)
                }
                return try Self.move(rows, of: owner, from: old, to: new, db, at: DownloadRow.milliseconds(time.date))
            }
            if count < Self.rowsMovedAtOnce { return }
            // The pause lets other processes get the lock, which SQLite tries ten times a second. A cancelled task
            // continues without the pause.
            try? await time.sleep(for: (time.now - began) / 8)
        }
    }

    /// Moves up to ``rowsMovedAtOnce`` rows, and logs each. Returns the number of rows that were moved.
    private static func move(
        _ rows: RowSet, of owner: String?, from old: DownloadState?, to new: DownloadState, _ db: Database,
        at time: Int64
    ) throws -> Int {
        var arguments: StatementArguments = [owner]
        if let old { arguments += [try JSONText.encode(old)] }
        let ids: [DownloadID] = try db.values(
            """
            SELECT id FROM \(rows) AND session \(owner == nil ? "IS" : "=") ?
                \(old == nil ? "" : "AND stateDetail = ?") LIMIT \(rowsMovedAtOnce)
            """, arguments)
        if ids.isEmpty { return 0 }
        let heir = new != .queued && owner.map(SessionIdentifier.isForeground) == true ? nil : owner
        try db.run(
            """
            UPDATE OR FAIL detail SET state = ?, stateDetail = ?, session = ?, speed = NULL, updated = ?
            WHERE id IN (SELECT value FROM json_each(?))
            """, [new.kind.rawValue, DownloadRow.detail(of: new), heir, time, JSONWriter.array(ids)])
        try EventLog(db: db).note(LoggedEvent.Kind(new.kind), of: ids, session: owner, at: time)
        return ids.count
    }

    /// Returns the sessions that own running or waiting downloads, and the foreground sessions that have a queue. Nil
    /// stands for downloads without a session. There may be a million queued downloads, so the index is read in one
    /// step for each session.
    private static func owners(_ db: Database) throws -> Set<String?> {
        // A value that is not a text is not the name of a session.
        let atWork = try db.cachedStatement(
            sql: "SELECT DISTINCT session FROM \(RowSet.atWork) AND typeof(session) IN ('text', 'null')")
        var owners = try Optional<String>.fetchSet(atWork)
        if try db.row("SELECT 1 FROM \(RowSet.queued) AND session IS NULL LIMIT 1") != nil { owners.insert(nil) }
        for queue in ["\(RowSet.queued)", "request INDEXED BY requestQueued WHERE queued > 0"] {
            let next = "SELECT session FROM \(queue) AND session > ? AND session < x'' ORDER BY session LIMIT 1"
            var last = ""
            while let owner: String = try db.value(next, [last]) {
                if SessionIdentifier.isForeground(owner) { owners.insert(owner) }
                last = owner
            }
        }
        return owners
    }
}
