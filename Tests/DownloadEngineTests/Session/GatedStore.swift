import DownloadCore
import DownloadTestSupport
import Foundation
import Synchronization

/// A store that a test can block, or let fail, at the moments when a session waits for the store.
final class GatedStore: ForwardingStore {
    struct Gates: Sendable {
        var beforeChange: (@Sendable (DownloadChange) async throws -> Void)?
        /// Called when the change is in the store, before the caller gets the answer.
        var afterChange: (@Sendable (DownloadChange) async -> Void)?
        var beforeRemove: (@Sendable () async throws -> Void)?
        var beforeSave: (@Sendable ([DownloadRecord]) async -> Void)?
        /// Called when the records are in the store, before the caller gets the answer.
        var afterSave: (@Sendable ([DownloadRecord]) async -> Void)?
        /// Whether another session owns the record now.
        var loses: (@Sendable (DownloadRecord) -> Bool)?
        /// Called when the downloads are in the store, before the caller gets the answer.
        var afterAdd: (@Sendable () async -> Void)?
        var afterClaim: (@Sendable () async -> Void)?
        var beforeQueued: (@Sendable () async -> Void)?
        /// Called when the store has read the queue, before the caller gets the answer.
        var afterQueued: (@Sendable () async -> Void)?
        /// Called when the store has read the queue of other origins, before the caller gets the answer.
        var afterBeyond: (@Sendable () async -> Void)?
    }

    let inner: any DownloadStore = InMemoryDownloadStore(isAlive: { !$0.contains("dead") })
    private let gates = Mutex(Gates())

    func change(_ change: (inout Gates) -> Void) { gates.withLock { change(&$0) } }

    /// Returns the record as a store on disk would, without secrets.
    private static func withoutSecrets(_ record: DownloadRecord) throws -> DownloadRecord {
        var stored = record
        stored.request = try JSONDecoder().decode(DownloadRequest.self, from: JSONEncoder().encode(record.request))
        return stored
    }

    func add(_ requests: RequestList, session: String) async throws -> [AddedDownload] {
        let added = try await inner.add(requests, session: session)
        await gates.withLock { $0 }.afterAdd?()
        return added
    }

    func claim(
        _ ids: [DownloadID], session: String, includingCompleted: Bool
    ) async throws -> [ClaimedDownload] {
        let claimed = try await inner.claim(ids, session: session, includingCompleted: includingCompleted)
        await gates.withLock { $0 }.afterClaim?()
        return try claimed.map { download in
            guard download.kind == .claimed else { return download }
            return ClaimedDownload(.claimed, try Self.withoutSecrets(download.record))
        }
    }

    func queued(
        session: String, after position: QueuePosition?, excluding prefixes: [String], limit: Int
    ) async throws -> [DownloadEntry] {
        let isBeyond = !prefixes.isEmpty
        if !isBeyond { await gates.withLock { $0 }.beforeQueued?() }
        let records = try await inner.queued(
            session: session, after: position, excluding: prefixes, limit: limit)
        await (isBeyond ? gates.withLock { $0 }.afterBeyond : gates.withLock { $0 }.afterQueued)?()
        return try records.map { DownloadEntry(try Self.withoutSecrets($0.record)) }
    }

    func change(_ ids: [DownloadID], _ change: DownloadChange, session: String) async throws -> [ChangedRecord] {
        try await gates.withLock { $0 }.beforeChange?(change)
        let changed = try await inner.change(ids, change, session: session)
        await gates.withLock { $0 }.afterChange?(change)
        return changed
    }

    func remove(
        _ ids: [DownloadID], session: String, deleting: @escaping @Sendable (DownloadRecord) -> Void
    ) async throws -> [DownloadRecord] {
        try await gates.withLock { $0 }.beforeRemove?()
        return try await inner.remove(ids, session: session, deleting: deleting)
    }

    func save(_ records: [DownloadRecord], session: String, durably: Bool) async throws -> Set<DownloadID> {
        let gates = gates.withLock { $0 }
        if let loses = gates.loses, records.contains(where: loses) { return Set(records.filter(loses).map(\.id)) }
        await gates.beforeSave?(records)
        let lost = try await inner.save(records, session: session, durably: durably)
        await gates.afterSave?(records)
        return lost
    }
}

/// A gate at which a call waits until a test opens it.
final class StoreGate: Sendable {
    private let state = Observed((isReached: false, isOpen: false))

    /// Returns when the gate is open.
    func pass() async {
        state.update { $0.isReached = true }
        _ = await state.wait { $0.isOpen }
    }

    func isReached() async -> Bool { await state.wait { $0.isReached } }

    func open() { state.update { $0.isOpen = true } }
}
