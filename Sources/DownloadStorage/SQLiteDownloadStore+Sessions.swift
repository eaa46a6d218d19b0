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
            let isForeground = owner.map(SessionIdentifier.isForeground) ?? true
            let move = SessionMove(owner: owner, to: .paused(.interrupted), heir: isForeground ? nil : owner)
            try await self.move(.atWork, move, ifDead: true)
            if isForeground { try await self.move(.queued, move, ifDead: true, includesRequests: true) }
        }
    }

    package func requeue(session: String) async throws {
        // The intents of the session's predecessor.
        try await write { [coder] db in try Intents.settle(db, coder: coder) { $0 == session } }
        var move = SessionMove(owner: session, to: .queued, heir: session)
        try await self.move(.atWork, move)
        for reason in DownloadState.PauseReason.allCases where DownloadState.paused(reason).goesOnAlone {
            move.from = .paused(reason)
            try await self.move(.paused, move)
        }
    }

    package func pauseQueued(session: String, reason: DownloadState.PauseReason) async throws {
        let heir = SessionIdentifier.isForeground(session) ? nil : session
        try await move(.queued, SessionMove(owner: session, to: .paused(reason), heir: heir), includesRequests: true)
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

    /// Moves all rows of `rows` that match the move. A million rows take many seconds, and other processes do not wait
    /// that long. So the rows are moved in steps, and other processes have a turn between two steps.
    /// - Parameters:
    ///   - ifDead: Whether to stop if the session is alive.
    ///   - includesRequests: Whether queued downloads without a row of `detail` get one first.
    private func move(
        _ rows: RowSet, _ move: SessionMove, ifDead: Bool = false, includesRequests: Bool = false
    ) async throws {
        while true {
            let began = time.now
            let count = try await write { [coder, isAlive, time] db in
                if ifDead, let owner = move.owner {
                    if isAlive(owner) { return 0 }
                    try Intents.settle(db, coder: coder) { $0 == owner }
                }
                if includesRequests, let owner = move.owner {
                    try Details(db: db).makeQueued(of: owner, limit: SessionMove.rowsAtOnce)
                }
                return try move.step(rows, db, at: time.date)
            }
            if count < SessionMove.rowsAtOnce { return }
            // The pause lets other processes get the lock, which SQLite tries ten times a second. A cancelled task
            // continues without the pause.
            try? await time.sleep(for: (time.now - began) / 8)
        }
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
