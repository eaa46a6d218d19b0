import DownloadCore
import DownloadTestSupport
import Synchronization

/// A store that can be held up, or made to fail, at the moments when a session waits for it.
final class GatedStore: ForwardingStore {
    struct Gates: Sendable {
        var beforeChange: (@Sendable (DownloadChange) async throws -> Void)?
        var beforeRemove: (@Sendable () async throws -> Void)?
        /// It is in the store, but nobody knows yet.
        var afterSave: (@Sendable ([DownloadRecord]) async -> Void)?
    }

    let inner: any DownloadStore = InMemoryDownloadStore(isAlive: { !$0.contains("dead") })
    private let gates = Mutex(Gates())

    func change(_ change: (inout Gates) -> Void) { gates.withLock { change(&$0) } }

    func change(_ ids: [DownloadID], _ change: DownloadChange, session: String) async throws -> [ChangedRecord] {
        try await gates.withLock { $0 }.beforeChange?(change)
        return try await inner.change(ids, change, session: session)
    }

    func remove(_ ids: [DownloadID], session: String) async throws -> [DownloadRecord] {
        try await gates.withLock { $0 }.beforeRemove?()
        return try await inner.remove(ids, session: session)
    }

    func save(_ records: [DownloadRecord], session: String, durably: Bool) async throws -> Set<DownloadID> {
        let lost = try await inner.save(records, session: session, durably: durably)
        await gates.withLock { $0 }.afterSave?(records)
        return lost
    }
}

/// Where the first that comes is held up until it is let go.
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
