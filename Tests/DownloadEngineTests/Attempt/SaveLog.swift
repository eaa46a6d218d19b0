import DownloadCore
import DownloadEngine
import DownloadTestSupport
import Synchronization

/// A store in memory that keeps every saved record. A test can make it slow, let it fail, or let it lose a download to
/// another session.
final class SaveLog: ForwardingStore {
    struct Trouble: Sendable {
        /// Called before each save. The save waits until the call has returned.
        var beforeSave: (@Sendable ([DownloadRecord]) async throws -> Void)?
        var afterQueued: (@Sendable ([DownloadRecord]) async -> Void)?
        var lost: Set<DownloadID> = []
    }

    let inner: any DownloadStore
    private let log = Mutex<[(record: DownloadRecord, isDurable: Bool)]>([])
    private let trouble: Mutex<Trouble>

    init(_ trouble: Trouble = Trouble(), isAlive: @escaping @Sendable (String) -> Bool = { !$0.contains("dead") }) {
        inner = InMemoryDownloadStore(isAlive: isAlive)
        self.trouble = Mutex(trouble)
    }

    /// All saved records, in order.
    var records: [DownloadRecord] { log.withLock { $0.map(\.record) } }
    /// The records that were saved durably.
    var durable: [DownloadRecord] { log.withLock { $0.filter(\.isDurable).map(\.record) } }

    func change(_ change: (inout Trouble) -> Void) { trouble.withLock { change(&$0) } }

    func save(_ records: [DownloadRecord], session: String, durably: Bool) async throws -> Set<DownloadID> {
        let trouble = trouble.withLock { $0 }
        try await trouble.beforeSave?(records)
        log.withLock { $0 += records.map { ($0, durably) } }
        let kept = records.filter { !trouble.lost.contains($0.id) }
        return try await inner.save(kept, session: session, durably: durably)
            .union(trouble.lost.intersection(records.map(\.id)))
    }

    func queued(
        session: String, after position: QueuePosition?, excluding prefixes: [String], limit: Int
    ) async throws -> [DownloadEntry] {
        let records = try await inner.queued(session: session, after: position, excluding: prefixes, limit: limit)
        await trouble.withLock { $0 }.afterQueued?(records.map(\.record))
        return records
    }
}
