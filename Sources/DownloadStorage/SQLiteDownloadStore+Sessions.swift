import DownloadCore
import Foundation
import GRDB

/// What happens to all downloads of a session at once: any number of rows, none of which is read into memory.
extension SQLiteDownloadStore {
    package func releaseDeadSessions() async throws {
        let dead = try await perform { [isAlive] db in
            try Self.owners(db, Self.isAtWork, Self.isQueued).filter { Self.isGone($0, isAlive) }
        }
        if dead.isEmpty { return }
        try await write { [isAlive] db in
            for owner in dead where Self.isGone(owner, isAlive) {
                let isForeground = owner.map(SessionIdentifier.isForeground) ?? true
                let heir = isForeground ? nil : owner
                try Self.move(db, Self.isAtWork, of: owner, to: .paused(.interrupted), heir)
                if isForeground { try Self.move(db, Self.isQueued, of: owner, to: .paused(.interrupted), heir) }
            }
        }
    }

    package func requeue(session: String) async throws {
        try await write { db in
            try Self.move(db, Self.isAtWork, of: session, to: .queued, session)
            for reason in DownloadState.PauseReason.allCases where DownloadState.paused(reason).goesOnAlone {
                try Self.move(db, Self.isPaused, of: session, from: .paused(reason), to: .queued, session)
            }
        }
    }

    package func pauseQueued(session: String, reason: DownloadState.PauseReason) async throws {
        let heir = SessionIdentifier.isForeground(session) ? nil : session
        try await write { db in
            try Self.move(db, Self.isQueued, of: session, to: .paused(reason), heir)
        }
    }

    package func queuedCount(session: String) async throws -> Int {
        try await perform { db in
            let statement = try db.cachedStatement(
                sql: "SELECT count(*) FROM download WHERE \(Self.isQueued) AND session = ?")
            return try Int.fetchOne(statement, arguments: [session]) ?? 0
        }
    }

    package func ended(before date: Date, limit: Int) async throws -> [DownloadID] {
        try await perform { db in
            let statement = try db.cachedStatement(
                sql: "SELECT id FROM download WHERE \(Self.isEnded) AND updated < ? ORDER BY updated, id LIMIT ?")
            return try DownloadID.fetchAll(statement, arguments: [DownloadRow.milliseconds(date), max(0, limit)])
        }
    }

    // As in the partial indexes, which only a query with these very words may use.
    static let isQueued = "state = 'queued'"
    static let isAtWork = "state IN ('running', 'waiting')"
    static let isPaused = "state = 'paused'"
    static let isEnded = "state IN ('completed', 'failed', 'cancelled')"

    private static func isGone(_ owner: String?, _ isAlive: (String) -> Bool) -> Bool {
        owner.map { !isAlive($0) } ?? true
    }

    /// Moves the rows that meet `condition` to `state` and hands them to `heir`.
    /// - Parameter from: only those with just this state.
    private static func move(
        _ db: Database, _ condition: String, of owner: String?, from: DownloadState? = nil, to state: DownloadState,
        _ heir: String?
    ) throws {
        let detail = state == .queued ? nil : try JSONText.encode(state)
        var arguments: StatementArguments = [
            state.kind.rawValue, detail, heir, DownloadRow.milliseconds(Date()), owner,
        ]
        if let from { arguments += [try JSONText.encode(from)] }
        try db.cachedStatement(
            sql: """
                UPDATE download SET state = ?, stateDetail = ?, session = ?, speed = NULL, updated = ?
                WHERE \(condition) AND session \(owner == nil ? "IS" : "=") ?\(from == nil ? "" : " AND stateDetail = ?")
                """
        ).execute(arguments: arguments)
    }

    /// The sessions that the rows of each condition belong to, nil for none: one step of the index for each.
    private static func owners(_ db: Database, _ conditions: String...) throws -> Set<String?> {
        var owners: Set<String?> = []
        for condition in conditions {
            let orphan = try db.cachedStatement(
                sql: "SELECT 1 FROM download WHERE \(condition) AND session IS NULL LIMIT 1")
            if try Int.fetchOne(orphan) != nil { owners.insert(nil) }
            // Behind all text lie the blobs, which are no session's name.
            let next = try db.cachedStatement(
                sql: """
                    SELECT session FROM download WHERE \(condition) AND session > ? AND session < x''
                    ORDER BY session LIMIT 1
                    """)
            var last = ""
            while let owner = try String.fetchOne(next, arguments: [last]), owner != last {
                owners.insert(owner)
                last = owner
            }
        }
        return owners
    }
}
