import Foundation

/// Remembers downloads. It stores what it is told; the decisions are made elsewhere.
package protocol DownloadStore: Sendable {
    /// Finds or makes a download for each request, in order, in one transaction: two processes that ask for the same
    /// URL and destination get the same download.
    func add(_ requests: [DownloadRequest], session: String) async throws -> [AddedDownload]

    /// Hands downloads that no live session runs to `session`, as `queued`. Refuses all when one is unknown.
    /// - Parameter includingCompleted: also hands over what is completed, to be fetched again.
    func claim(_ ids: [DownloadID], session: String, includingCompleted: Bool) async throws -> [ClaimedDownload]

    /// Waiting work of `session`: the `queued` ones behind `position`, by priority and order.
    func queued(session: String, after position: QueuePosition?, limit: Int) async throws -> [DownloadRecord]

    /// The first `queued` ones of `session`, by priority and order, whose URLs have none of these prefixes.
    func queued(session: String, excluding prefixes: [String], limit: Int) async throws -> [DownloadRecord]

    /// Writes the records back, grouped with whatever else is waiting. Returns the ids that no longer belong to
    /// `session`: those were not written.
    /// - Parameter durably: returns once they survive a loss of power, too. Otherwise only the end of the process cannot
    ///   take them back; what is added is durable in any case.
    func save(_ records: [DownloadRecord], session: String, durably: Bool) async throws -> Set<DownloadID>

    func records(_ selection: DownloadSelection) async throws -> [DownloadRecord]

    /// Forgets them. Refuses all when one is unknown or run by a live session other than `session`.
    /// - Parameter deleting: called for each of them when it is certain that they are to go, before they are gone: a
    ///   process that is killed leaves no partial file that nobody owns.
    func remove(
        _ ids: [DownloadID], session: String, deleting: @escaping @Sendable (DownloadRecord) -> Void
    ) async throws -> [DownloadRecord]

    /// Downloads that a dead session left as queued, running or waiting become paused (interrupted). Those of a
    /// background session still belong to it, and its queue stays a queue: it will come back.
    func releaseDeadSessions() async throws

    /// Makes the change to downloads that no other live session runs, all or none; those of `session` itself must have
    /// no runner. Refuses all when one is unknown or another live session's.
    func change(_ ids: [DownloadID], _ change: DownloadChange, session: String) async throws -> [ChangedRecord]

    /// A background session comes back: what its predecessor left running, waiting, or paused other than at the user's
    /// wish is `queued` again.
    func requeue(session: String) async throws

    /// How many are `queued` for `session`.
    func queuedCount(session: String) async throws -> Int

    /// Events behind `cursor`, in order.
    func events(after cursor: EventCursor, limit: Int) async throws -> [LoggedEvent]

    /// The log's reach: events up to `dropped` are gone, `last` is the newest; both 0 before the first event.
    func eventBounds() async throws -> (dropped: EventCursor, last: EventCursor)

    /// Forgets events, but keeps the newest `count`.
    func dropEvents(keeping count: Int) async throws

    /// Forgets completed, failed and cancelled downloads that were last touched before `date`, the oldest first: at
    /// once, so that nobody takes one up again in between.
    func removeEnded(before date: Date, limit: Int) async throws -> [DownloadRecord]

    /// The `queued` ones of `session` become paused, and free if it is a foreground one.
    func pauseQueued(session: String, reason: DownloadState.PauseReason) async throws

    /// What earlier downloads found out about a host (scheme, name and port), however long ago.
    func knowledge(ofHost origin: String) async throws -> HostKnowledge?

    func learn(_ knowledge: HostKnowledge, ofHost origin: String) async throws

    /// The next hook that is due of `session`, or of one that is gone; it is the caller's from then on, whatever becomes
    /// of it. Hooks become due with the save that ends their downloads, once for each end.
    func takeHook(session: String) async throws -> DueHook?

    /// Waits for what is still to be written.
    func close() async
}

extension DownloadStore {
    /// A store that keeps nothing of hosts: sessions find out for themselves.
    package func knowledge(ofHost origin: String) async throws -> HostKnowledge? { nil }

    package func learn(_ knowledge: HostKnowledge, ofHost origin: String) async throws {}

    /// A store that keeps no hooks: none is run.
    package func takeHook(session: String) async throws -> DueHook? { nil }

    package func save(_ records: [DownloadRecord], session: String) async throws -> Set<DownloadID> {
        try await save(records, session: session, durably: false)
    }

    package func remove(_ ids: [DownloadID], session: String) async throws -> [DownloadRecord] {
        try await remove(ids, session: session) { _ in }
    }
}

/// A record after a change.
package struct ChangedRecord: Sendable, Equatable {
    package var record: DownloadRecord
    /// False: there was nothing to do.
    package var didChange: Bool

    package init(record: DownloadRecord, didChange: Bool) {
        self.record = record
        self.didChange = didChange
    }
}

/// Where a queue was left: the priority and id of the last one taken.
package struct QueuePosition: Sendable, Equatable {
    package let priority: Int
    package let id: DownloadID

    package init(priority: Int, id: DownloadID) {
        self.priority = priority
        self.id = id
    }
}

/// What became of a request.
package struct AddedDownload: Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        case inserted
        /// One that nobody was running, taken over with all it has.
        case adopted
        /// A live session is at it already.
        case joined
    }

    package var kind: Kind
    package var record: DownloadRecord

    package init(kind: Kind, record: DownloadRecord) {
        self.kind = kind
        self.record = record
    }
}

extension DownloadStore {
    package func claim(_ ids: [DownloadID], session: String) async throws -> [ClaimedDownload] {
        try await claim(ids, session: session, includingCompleted: false)
    }
}

package enum ClaimedDownload: Sendable, Equatable {
    case claimed(DownloadRecord)
    /// A live session runs it.
    case running(DownloadRecord)
    /// There is nothing left to do.
    case completed(DownloadRecord)

    package var record: DownloadRecord {
        switch self {
        case .claimed(let record), .running(let record), .completed(let record): record
        }
    }
}
