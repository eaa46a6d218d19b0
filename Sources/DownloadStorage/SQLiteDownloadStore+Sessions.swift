import DownloadCore
import Foundation
import GRDB

/// What happens to all downloads of a session at once: any number of rows, none of which is read into memory.
extension SQLiteDownloadStore {
    package func releaseDeadSessions() async throws {
        let dead = try await perform { [isAlive] db in
            try Self.owners(db).filter { Self.isGone($0, isAlive) }
        }
        if dead.isEmpty { return }
        try await write { [isAlive] db in
            for owner in dead where Self.isGone(owner, isAlive) {
                let isForeground = owner.map(SessionIdentifier.isForeground) ?? true
                let heir = isForeground ? nil : owner
                try Self.move(db, .atWork, of: owner, to: .paused(.interrupted), heir)
                if isForeground { try Self.move(db, .queued, of: owner, to: .paused(.interrupted), heir) }
            }
        }
    }

    package func requeue(session: String) async throws {
        try await write { db in
            try Self.move(db, .atWork, of: session, to: .queued, session)
            for reason in DownloadState.PauseReason.allCases where DownloadState.paused(reason).goesOnAlone {
                try Self.move(db, .paused, of: session, from: .paused(reason), to: .queued, session)
            }
        }
    }

    package func pauseQueued(session: String, reason: DownloadState.PauseReason) async throws {
        let heir = SessionIdentifier.isForeground(session) ? nil : session
        try await write { db in
            try Self.move(db, .queued, of: session, to: .paused(reason), heir)
        }
    }

    package func queuedCount(session: String) async throws -> Int {
        try await perform { db in
            // Mostly there is one queue; then there is no need to look at each entry of the index.
            let ends = try db.cachedStatement(
                sql: """
                    SELECT (SELECT session FROM \(RowSet.queued) ORDER BY session, priority DESC LIMIT 1) IS ?1
                        AND (SELECT session FROM \(RowSet.queued) ORDER BY session DESC, priority LIMIT 1) IS ?1
                    """)
            let isOnly = try Bool.fetchOne(ends, arguments: [session]) ?? false
            let statement = try db.cachedStatement(
                sql: "SELECT count(*) FROM \(RowSet.queued)\(isOnly ? "" : " AND session = ?")")
            return try Int.fetchOne(statement, arguments: isOnly ? [] : [session]) ?? 0
        }
    }

    package func removeEnded(before date: Date, limit: Int) async throws -> [DownloadRecord] {
        @Sendable func old(_ db: Database) throws -> [DownloadID] {
            let statement = try db.cachedStatement(
                sql: "SELECT id FROM \(RowSet.ended) AND updated < ? ORDER BY updated, id LIMIT ?")
            return try DownloadID.fetchAll(statement, arguments: [DownloadRow.milliseconds(date), max(0, limit)])
        }
        // There is seldom anything, and reading waits for no other process.
        if try await perform({ try old($0).isEmpty }) { return [] }
        return try await write { [self] db in
            let ids = try old(db)
            let records = try stored(ids, in: db).map(\.record)
            let statement = try db.cachedStatement(sql: "DELETE FROM download WHERE id = ?")
            for id in ids { try statement.execute(arguments: [id]) }
            return records
        }
    }

    private static func isGone(_ owner: String?, _ isAlive: (String) -> Bool) -> Bool {
        owner.map { !isAlive($0) } ?? true
    }

    /// Moves the rows that are among `rows` to `state` and hands them to `heir`.
    /// - Parameter from: only those with just this state.
    private static func move(
        _ db: Database, _ rows: RowSet, of owner: String?, from: DownloadState? = nil, to state: DownloadState,
        _ heir: String?
    ) throws {
        let detail = state == .queued ? nil : try JSONText.encode(state)
        var arguments: StatementArguments = [
            state.kind.rawValue, detail, heir, DownloadRow.milliseconds(Date()), owner,
        ]
        if let from { arguments += [try JSONText.encode(from)] }
        try db.cachedStatement(
            sql: """
                UPDATE \(rows.table) SET state = ?, stateDetail = ?, session = ?, speed = NULL, updated = ?
                WHERE \(rows.condition) AND session \(owner == nil ? "IS" : "=") ?\(from == nil ? "" : " AND stateDetail = ?")
                """
        ).execute(arguments: arguments)
    }

    /// The sessions that downloads at work belong to, nil for none, and the foreground ones that have a queue. Of queued
    /// ones there may be a million: one step of the index for each session.
    private static func owners(_ db: Database) throws -> Set<String?> {
        // Whatever is no text is no session's name.
        let atWork = try db.cachedStatement(
            sql: "SELECT DISTINCT session FROM \(RowSet.atWork) AND typeof(session) IN ('text', 'null')")
        var owners = try Optional<String>.fetchSet(atWork)
        let orphan = try db.cachedStatement(
            sql: "SELECT 1 FROM \(RowSet.queued) AND session IS NULL LIMIT 1")
        if try Int.fetchOne(orphan) != nil { owners.insert(nil) }
        let next = try db.cachedStatement(
            sql: """
                SELECT session FROM \(RowSet.queued) AND session > ? AND session < x''
                ORDER BY session LIMIT 1
                """)
        var last = ""
        while let owner = try String.fetchOne(next, arguments: [last]) {
            if SessionIdentifier.isForeground(owner) { owners.insert(owner) }
            last = owner
        }
        return owners
    }
}

/// Rows that an index finds among a million others. It is named in the queries: without statistics SQLite would take
/// the index of all states.
struct RowSet: CustomStringConvertible {
    let table: String
    /// As in the partial index, which only a query with these very words may use.
    let condition: String

    private init(_ index: String, _ condition: String) {
        table = "download INDEXED BY \(index)"
        self.condition = condition
    }

    /// What follows FROM.
    var description: String { "\(table) WHERE \(condition)" }

    static let queued = RowSet("downloadQueued", "state = 'queued'")
    static let atWork = RowSet("downloadByState", "state IN ('running', 'waiting')")
    static let paused = RowSet("downloadPaused", "state = 'paused'")
    static let ended = RowSet("downloadEnded", "state IN ('completed', 'failed', 'cancelled')")

    static func state(_ kind: DownloadState.Kind) -> RowSet { RowSet("downloadByState", "state = '\(kind.rawValue)'") }
}
