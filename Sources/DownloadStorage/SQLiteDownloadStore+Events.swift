import DownloadCore

/// The log of events, due hooks and host profiles.
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

    package func takeHook(session: String) async throws -> DueHook? {
        // A hook is seldom due, and reading waits for no other process.
        if try await perform({ db in try HookRows(db: db).isEmpty() }) { return nil }
        // The deletion is durable, so that a hook does not run again even after a loss of power.
        return try await write(durably: true) { [isAlive] db in
            try HookRows(db: db).take(for: session, isAlive: isAlive)
        }
    }

    package func knowledge(ofOrigin origin: String) async throws -> HostKnowledge? {
        try await perform { db in try HostRows(db: db).knowledge(of: origin) }
    }

    package func learn(_ knowledge: HostKnowledge, ofOrigin origin: String) async throws {
        try await write { db in try HostRows(db: db).learn(knowledge, of: origin) }
    }
}
