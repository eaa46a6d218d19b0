import Foundation

/// The store of downloads. It only saves and reads records; the session makes the decisions.
package protocol DownloadStore: Sendable {
    /// The path of the store's file. Empty if the store is lost with its process.
    var path: String { get }

    /// Finds or creates a download for each request, in order, in one transaction. Two processes that add the same URL
    /// and destination get the same download.
    func add(_ requests: RequestList, session: String) async throws -> [AddedDownload]

    /// Gives `session` the downloads that no live session runs and no other live session keeps paused, as `queued`. If
    /// one id is unknown, nothing is changed.
    /// - Parameter includingCompleted: Whether completed downloads are queued, too, to be fetched again.
    func claim(_ ids: [DownloadID], session: String, includingCompleted: Bool) async throws -> [ClaimedDownload]

    /// Returns the first `queued` downloads of `session`, by priority and order, that come after `position` and whose
    /// URLs have none of these prefixes.
    func queued(
        session: String, after position: QueuePosition?, excluding prefixes: [String], limit: Int
    ) async throws -> [DownloadEntry]

    /// Writes the records, together with other waiting writes. Returns the ids of downloads that no longer belong to
    /// `session`, which were not written.
    /// - Parameter durably: whether the call returns only when the records survive a loss of power. Otherwise they
    ///   survive only the end of the process. Added downloads are always durable.
    func save(_ records: [DownloadRecord], session: String, durably: Bool) async throws -> Set<DownloadID>

    /// Saves small files and records like ``save(_:session:durably:)``, in one transaction.
    func save(_ files: SmallFiles, _ records: [DownloadRecord], session: String, durably: Bool) async throws
        -> Set<DownloadID>

    func records(_ selection: DownloadSelection) async throws -> [DownloadRecord]

    /// Removes downloads. If one is unknown or belongs to a live session other than `session`, nothing is removed.
    /// - Parameter deleting: called for each download when its removal is certain, but before it is removed. So a
    ///   process that is killed does not leave a partial file without a download.
    func remove(
        _ ids: [DownloadID], session: String, deleting: @escaping @Sendable (DownloadRecord) -> Void
    ) async throws -> [DownloadRecord]

    /// Pauses (as interrupted) the downloads that dead sessions left as queued, running or waiting. A background
    /// session will be started again. So its downloads still belong to it, and its queued downloads stay queued.
    func releaseDeadSessions() async throws

    /// Changes downloads, all or none. The downloads of `session` must not be running. If one download is unknown or
    /// belongs to another live session, nothing is changed.
    func change(_ ids: [DownloadID], _ change: DownloadChange, session: String) async throws -> [ChangedRecord]

    /// Queues again the downloads that the previous process of a background session left running or waiting. Also
    /// queues the downloads that were paused, but not by a command of the user.
    func requeue(session: String) async throws

    func queuedCount(session: String) async throws -> Int

    func events(after cursor: EventCursor, limit: Int) async throws -> [LoggedEvent]

    /// Returns the limits of the log: the events up to `dropped` were deleted, and `last` is the newest. Both are 0
    /// before the first event.
    func eventBounds() async throws -> (dropped: EventCursor, last: EventCursor)

    func dropEvents(keeping count: Int) async throws

    /// Removes completed, failed and cancelled downloads that were last changed before `date`, the oldest first. The
    /// removal is one transaction, so that no session can claim one of them meanwhile.
    func removeEnded(before date: Date, limit: Int) async throws -> [DownloadRecord]

    /// Pauses the `queued` downloads of `session`. If it is a foreground session, they belong to no session any more.
    func pauseQueued(session: String, reason: DownloadState.PauseReason) async throws

    /// Returns what earlier downloads have learned about a place, however long ago.
    /// - Parameter place: The origin of a host (scheme, name and port), or the URL of a folder.
    func knowledge<Knowledge: ServerKnowledge>(of place: String) async throws -> Knowledge?
    /// Records what a download has learned about a place, instead of what was recorded before.
    /// - Parameter change: Is called with what is recorded, in one transaction. If it returns nil, nothing is changed.
    func learn<Knowledge: ServerKnowledge>(
        of place: String, _ change: @escaping @Sendable (Knowledge?) -> Knowledge?
    ) async throws

    /// Takes the next due hook of `session` or of a dead session. No other caller gets this hook, even if the caller
    /// does not run it. A hook becomes due when the end of its download is saved, once for each end.
    func takeHook(session: String) async throws -> DueHook?

    func close() async
}

extension DownloadStore {
    package func save(_ records: [DownloadRecord], session: String) async throws -> Set<DownloadID> {
        try await save(records, session: session, durably: false)
    }

    package func claim(_ ids: [DownloadID], session: String) async throws -> [ClaimedDownload] {
        try await claim(ids, session: session, includingCompleted: false)
    }
}

package struct ChangedRecord: Sendable, Equatable {
    package var record: DownloadRecord
    package var didChange: Bool

    package init(record: DownloadRecord, didChange: Bool) {
        self.record = record
        self.didChange = didChange
    }
}

/// A position in a queue: the priority and id of the last download taken.
package struct QueuePosition: Sendable, Equatable {
    package let priority: Int
    package let id: DownloadID

    package init(priority: Int, id: DownloadID) {
        self.priority = priority
        self.id = id
    }

    package func precedes(_ other: QueuePosition) -> Bool { (-priority, id) < (-other.priority, other.id) }
}

/// The result of adding a request.
package struct AddedDownload: Sendable {
    package enum Kind: String, Codable, Sendable {
        case inserted
        /// A known download that no session was running. It is continued with its partial file.
        case adopted
        /// A known download that a live session runs, has in its queue or keeps paused.
        case joined
    }

    package let kind: Kind
    package let entry: DownloadEntry

    package init(kind: Kind, entry: DownloadEntry) {
        self.kind = kind
        self.entry = entry
    }

    package init(kind: Kind, record: DownloadRecord) { self.init(kind: kind, entry: DownloadEntry(record)) }

    package var id: DownloadID { entry.id }
    package var record: DownloadRecord { entry.record }
}

package struct ClaimedDownload: Sendable, Equatable {
    package enum Kind: String, Codable, Sendable {
        case claimed
        /// A live session runs the download, has it in its queue or keeps it paused.
        case running
        /// The download is completed already.
        case completed
    }

    package let kind: Kind
    package let record: DownloadRecord

    package init(_ kind: Kind, _ record: DownloadRecord) { (self.kind, self.record) = (kind, record) }
}
