import DownloadCore
import DownloadStorage
import DownloadTestSupport
import Synchronization

/// A store in memory that a test can block, or let fail, at the moments when a session waits for the store. It keeps
/// every saved record. A session that is not closed outlives its test with its store, so the gates hold the folder of
/// the test weakly.
final class GatedStore: ForwardingStore {
    struct Gates: Sendable {
        var beforeChange: (@Sendable (DownloadChange) async throws -> Void)?
        /// Called when the change is in the store, before the caller gets the answer.
        var afterChange: (@Sendable (DownloadChange) async -> Void)?
        var beforeRemove: (@Sendable () async throws -> Void)?
        var beforeSave: (@Sendable ([DownloadRecord]) async throws -> Void)?
        /// Called when the records are in the store, before the caller gets the answer.
        var afterSave: (@Sendable ([DownloadRecord]) async -> Void)?
        /// Whether another session owns the record now.
        var loses: (@Sendable (DownloadRecord) -> Bool)?
        /// Called when the downloads are in the store, before the caller gets the answer.
        var afterAdd: (@Sendable () async -> Void)?
        var afterClaim: (@Sendable () async -> Void)?
        /// Called before the queue, or the queue of other origins, is read.
        var beforeQueued: (@Sendable () async throws -> Void)?
        /// Called when the store has read the queue, before the caller gets the answer.
        var afterQueued: (@Sendable () async -> Void)?
        /// Called when the store has read the queue of other origins, before the caller gets the answer.
        var afterBeyond: (@Sendable () async -> Void)?
    }

    let inner: any DownloadStore
    private let gates: Mutex<Gates>
    private let log = Mutex<[(record: DownloadRecord, isDurable: Bool)]>([])

    init(_ gates: Gates = Gates(), isAlive: @escaping @Sendable (String) -> Bool = { !$0.contains("dead") }) {
        inner = SQLiteDownloadStore.inMemory(isAlive: isAlive)
        self.gates = Mutex(gates)
    }

    /// All saved records, in order.
    var records: [DownloadRecord] { log.withLock { $0.map(\.record) } }
    /// The records that were saved durably.
    var durable: [DownloadRecord] { log.withLock { $0.filter(\.isDurable).map(\.record) } }

    func change(_ change: (inout Gates) -> Void) { gates.withLock { change(&$0) } }

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
        return claimed
    }

    func queued(
        session: String, after position: QueuePosition?, excluding prefixes: [String], limit: Int
    ) async throws -> [DownloadEntry] {
        let gates = gates.withLock { $0 }
        try await gates.beforeQueued?()
        let records = try await inner.queued(session: session, after: position, excluding: prefixes, limit: limit)
        await (prefixes.isEmpty ? gates.afterQueued : gates.afterBeyond)?()
        return records
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
        try await gates.beforeSave?(records)
        log.withLock { $0 += records.map { ($0, durably) } }
        let lost = records.filter { gates.loses?($0) == true }.map(\.id)
        let kept = records.filter { !lost.contains($0.id) }
        let refused = try await inner.save(kept, session: session, durably: durably)
        await gates.afterSave?(records)
        return refused.union(lost)
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
