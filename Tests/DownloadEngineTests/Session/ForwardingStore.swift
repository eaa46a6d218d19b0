import DownloadCore
import Foundation

/// A store that forwards every call to another store, except the calls that it implements.
protocol ForwardingStore: DownloadStore {
    var inner: any DownloadStore { get }
}

extension ForwardingStore {
    var path: String { inner.path }

    func add(_ requests: RequestList, session: String) async throws -> [AddedDownload] {
        try await inner.add(requests, session: session)
    }

    func claim(
        _ ids: [DownloadID], session: String, includingCompleted: Bool
    ) async throws -> [ClaimedDownload] {
        try await inner.claim(ids, session: session, includingCompleted: includingCompleted)
    }

    func queued(
        session: String, after position: QueuePosition?, excluding prefixes: [String], limit: Int
    ) async throws -> [DownloadEntry] {
        try await inner.queued(session: session, after: position, excluding: prefixes, limit: limit)
    }

    func save(_ records: [DownloadRecord], session: String, durably: Bool) async throws -> Set<DownloadID> {
        try await inner.save(records, session: session, durably: durably)
    }

    func records(_ selection: DownloadSelection) async throws -> [DownloadRecord] {
        try await inner.records(selection)
    }

    func change(_ ids: [DownloadID], _ change: DownloadChange, session: String) async throws -> [ChangedRecord] {
        try await inner.change(ids, change, session: session)
    }

    func remove(
        _ ids: [DownloadID], session: String, deleting: @escaping @Sendable (DownloadRecord) -> Void
    ) async throws -> [DownloadRecord] {
        try await inner.remove(ids, session: session, deleting: deleting)
    }

    func releaseDeadSessions() async throws { try await inner.releaseDeadSessions() }

    func requeue(session: String) async throws { try await inner.requeue(session: session) }

    func queuedCount(session: String) async throws -> Int { try await inner.queuedCount(session: session) }

    func pauseQueued(session: String, reason: DownloadState.PauseReason) async throws {
        try await inner.pauseQueued(session: session, reason: reason)
    }

    func events(after cursor: EventCursor, limit: Int) async throws -> [LoggedEvent] {
        try await inner.events(after: cursor, limit: limit)
    }

    func eventBounds() async throws -> (dropped: EventCursor, last: EventCursor) { try await inner.eventBounds() }

    func dropEvents(keeping count: Int) async throws { try await inner.dropEvents(keeping: count) }

    func removeEnded(before date: Date, limit: Int) async throws -> [DownloadRecord] {
        try await inner.removeEnded(before: date, limit: limit)
    }

    /// Saves the records of the files, so that a store needs only one function to see all that is saved.
    func save(
        _ files: SmallFiles, _ records: [DownloadRecord], session: String, durably: Bool
    ) async throws -> Set<DownloadID> {
        let files = files.completed.map(\.record) + files.finishing.map(\.finishing)
        return try await save(files + records, session: session, durably: durably)
    }

    func knowledge<Knowledge: ServerKnowledge>(of place: String) async throws -> Knowledge? {
        try await inner.knowledge(of: place)
    }

    func learn<Knowledge: ServerKnowledge>(
        of place: String, _ change: @escaping @Sendable (Knowledge?) -> Knowledge?
    ) async throws {
        try await inner.learn(of: place, change)
    }

    func takeHook(session: String) async throws -> DueHook? { try await inner.takeHook(session: session) }

    // A second session of the test may use the store after the first one has ended. The store in memory ends with its
    // object.
    func close() async {}
}
