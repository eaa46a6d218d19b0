import DownloadCore
import GRDB

/// The log of events, due hooks, and knowledge about servers.
extension SQLiteDownloadStore {
    package func events(after cursor: EventCursor, limit: Int) async throws -> [LoggedEvent] {
        try await read { db in try EventLog(db: db).events(after: cursor, limit: limit) }
    }

    package func eventBounds() async throws -> (dropped: EventCursor, last: EventCursor) {
        try await perform { db in try EventLog(db: db).bounds() }
    }

    package func dropEvents(keeping count: Int) async throws {
        // Events are deleted in steps, because other processes wait meanwhile.
        while try await !write({ db in try EventLog(db: db).dropStep(keeping: count) }) {}
    }

    /// The row of a hook is inserted in the transaction that ends its download, and deleted before its program is started.
    package func takeHook(session: String) async throws -> DueHook? {
        // A hook is seldom due, and reading waits for no other process.
        if try await perform({ db in try db.row("SELECT 1 FROM hook LIMIT 1") == nil }) { return nil }
        // The deletion is durable, so that a hook does not run again even after a loss of power.
        return try await write(durably: true) { [isAlive] db in
            var ownership = DownloadOwnership(session: session, isAlive: isAlive)
            let rows = try db.rows("SELECT id, session, record FROM hook ORDER BY id")
            var taken: [Int64] = []
            var due: DueHook?
            while due == nil, let row = try rows.next() {
                let owner: String = row[1]
                guard owner == session || ownership.isDead(owner) else { continue }
                taken.append(row[0])
                // A record that cannot be read runs no hook. Its download reports the damage.
                due = (try? JSONText.decode(DownloadRecord.self, row[2])).flatMap(DueHook.init)
            }
            try db.run("DELETE FROM hook WHERE id IN (SELECT value FROM json_each(?))", [JSONWriter.array(taken)])
            return due
        }
    }

    package func knowledge<Knowledge: ServerKnowledge>(of place: String) async throws -> Knowledge? {
        try await perform { db in try KnowledgeRows(db: db).knowledge(of: place) }
    }

    package func learn<Knowledge: ServerKnowledge>(
        of place: String, _ change: @escaping @Sendable (Knowledge?) -> Knowledge?
    ) async throws {
        // Other knowledge is learned again after a loss of power.
        try await write(durably: Knowledge.lifetime == .infinity) { db in
            try KnowledgeRows(db: db).learn(of: place, change)
        }
    }
}
