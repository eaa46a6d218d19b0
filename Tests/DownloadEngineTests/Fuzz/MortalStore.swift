import DownloadCore
import DownloadTestSupport
import Foundation
import Synchronization

/// The store on disk of one session of a ``ModelWorld``. It stops working after some calls, as if the process of the
/// session had died, or it fails for a while. Its calls and its answers may be late.
final class MortalStore: ForwardingStore {
    private struct State {
        /// The number of calls that still work.
        var left = Int.max
        /// Whether the last call takes effect although its answer is lost.
        var lastCallWorks = false
        /// The number of calls that fail before the store works again.
        var failures = 0
        var random: SplitMix64
        var isPunctual = false
    }

    let inner: any DownloadStore
    private let session: String
    private let world: ModelWorld
    private let state: Mutex<State>
    private let queue = DispatchQueue(label: "dlm.mortal-store")

    init(_ inner: any DownloadStore, of session: String, _ world: ModelWorld, seed: UInt64) {
        self.inner = inner
        self.session = session
        self.world = world
        state = Mutex(State(random: SplitMix64(seed: seed)))
    }

    var isDoomed: Bool { state.withLock { $0.left < .max } }
    var isDead: Bool { state.withLock { $0.left <= 0 } }

    func die(after calls: Int, lastCallWorks: Bool = false) {
        state.withLock { state in
            state.left = min(state.left, calls)
            state.lastCallWorks = lastCallWorks
        }
    }

    func fail(_ calls: Int) { state.withLock { $0.failures += calls } }

    func recover() { state.withLock { $0.failures = 0 } }

    func makePunctual() { state.withLock { $0.isPunctual = true } }

    /// Runs a call, unless the store is dead or fails.
    /// - Parameter mayBeLost: Whether the answer to a call that took effect may be lost.
    private func call<Value: Sendable>(
        _ name: @autoclosure () -> String = #function, mayBeLost: Bool = true, isOftenLate: Bool = false,
        _ body: () async throws -> Value
    ) async throws -> Value {
        await wait(often: isOftenLate)
        let fate = state.withLock { state -> (error: DownloadError?, isLost: Bool) in
            if state.left <= 0 { return (.sessionUnavailable(.shuttingDown), false) }
            if state.failures > 0 {
                state.failures -= 1
                return (.fileFailed(.noSpace(needed: nil), path: path), false)
            }
            if state.left < .max { state.left -= 1 }
            if state.left > 0 { return (nil, false) }
            return state.lastCallWorks && mayBeLost
                ? (nil, true) : (.sessionUnavailable(.shuttingDown), false)
        }
        if let error = fate.error {
            world.ledger.record("  \(session) \(name()) fails")
            throw error
        }
        defer { world.changes.update { $0 += 1 } }
        let value = try await body()
        world.ledger.record("  \(session) \(name()) -> \(Self.text(value))\(fate.isLost ? " LOST" : "")")
        if fate.isLost {
            world.ledger.lose(session)
            throw DownloadError.sessionUnavailable(.shuttingDown)
        }
        await wait(often: isOftenLate)
        return value
    }

    private static func text(_ value: some Any) -> String {
        func text(_ record: DownloadRecord) -> String {
            "\(record.id) \(record.state.kind) \(record.fileName ?? "")\(record.isFinishing ? " finishing" : "")"
        }
        return switch value {
        case let records as [DownloadRecord]: "\(records.map(text))"
        case let added as [AddedDownload]: "\(added.map { "\($0.kind) \(text($0.record))" })"
        case let entries as [DownloadEntry]: "\(entries.map { text($0.record) })"
        case let changed as [ChangedRecord]: "\(changed.map { "\($0.didChange) \(text($0.record))" })"
        case let claimed as [ClaimedDownload]: "\(claimed.map { text($0.record) })"
        default: "\(value)"
        }
    }

    /// Waits on the clock of the world: mostly not at all, and sometimes until other downloads have ended.
    /// - Parameter often: Whether the wait is often long.
    private func wait(often: Bool = false) async {
        let delay = state.withLock { state -> Duration in
            if state.left <= 0 || state.isPunctual { return .zero }
            switch Int.random(in: 0..<(often ? 6 : 24), using: &state.random) {
            case 0..<2: return .milliseconds(Int.random(in: 1...20, using: &state.random))
            case 2: return .milliseconds(Int.random(in: 50...2000, using: &state.random))
            default: return .zero
            }
        }
        if delay == .zero { return }
        await withCheckedContinuation { continuation in
            world.time.schedule(after: delay, on: queue) { continuation.resume() }
        }
    }

    // MARK: Calls

    func add(_ requests: RequestList, session: String) async throws -> [AddedDownload] {
        try await call {
            let ids = world.ledger.beginAdding(Set(requests.map(\.url.path)))
            do {
                let added = try await inner.add(requests, session: session)
                let rows = added.filter { $0.kind != .joined }.map {
                    ($0.id, ModelLedger.Row($0.entry, session: session))
                }
                world.ledger.endAdding(ids, Dictionary(rows, uniquingKeysWith: { $1 }))
                return added
            } catch {
                world.ledger.endAdding(ids, [:])
                throw error
            }
        }
    }

    /// Runs a call that may change these downloads.
    private func changing<Value: Sendable>(
        _ ids: [DownloadID], name: @autoclosure () -> String = #function, mayBeLost: Bool = true,
        isOftenLate: Bool = false,
        _ body: () async throws -> Value,
        rows: (Value) -> [DownloadID: ModelLedger.Row] = { _ in [:] }, gone: (Value) -> [DownloadID] = { _ in [] }
    ) async throws -> Value {
        let ids = ids.firstOccurrences
        return try await call("\(name()) \(ids)", mayBeLost: mayBeLost, isOftenLate: isOftenLate) {
            world.ledger.begin(ids)
            do {
                let value = try await body()
                world.ledger.end(ids, rows(value), gone: gone(value))
                return value
            } catch {
                world.ledger.end(ids)
                throw error
            }
        }
    }

    private static func rows(_ records: some Sequence<DownloadRecord>) -> [DownloadID: ModelLedger.Row] {
        Dictionary(records.map { ($0.id, ModelLedger.Row($0)) }, uniquingKeysWith: { $1 })
    }

    func claim(_ ids: [DownloadID], session: String, includingCompleted: Bool) async throws -> [ClaimedDownload] {
        try await changing(ids) {
            try await inner.claim(ids, session: session, includingCompleted: includingCompleted)
        } rows: { claimed in
            Self.rows(claimed.filter { $0.kind == .claimed }.map(\.record))
        }
    }

    func queued(
        session: String, after position: QueuePosition?, excluding prefixes: [String], limit: Int
    ) async throws -> [DownloadEntry] {
        try await call {
            try await inner.queued(session: session, after: position, excluding: prefixes, limit: limit)
        }
    }

    func save(_ records: [DownloadRecord], session: String, durably: Bool) async throws -> Set<DownloadID> {
        try await save(records, [], of: session) {
            try await inner.save(records, session: session, durably: durably)
        }
    }

    func save(
        _ files: SmallFiles, _ records: [DownloadRecord], session: String, durably: Bool
    ) async throws -> Set<DownloadID> {
        try await save(records + files.completed.map(\.record), files.finishing.map(\.id), of: session) {
            try await inner.save(files, records, session: session, durably: durably)
        }
    }

    private func save(
        _ records: [DownloadRecord], _ marked: [DownloadID], of session: String,
        _ body: () async throws -> Set<DownloadID>
    ) async throws -> Set<DownloadID> {
        for record in records { if let fault = world.faultOfBytes(record) { world.ledger.note("saved: \(fault)") } }
        let ids = records.map(\.id) + marked
        var foreign: Set<DownloadID> = []
        return try await changing(ids, name: "save \(Self.text(records)), marked \(marked) of", isOftenLate: true) {
            foreign = world.ledger.foreign(ids, to: session)
            let lost = try await body()
            let wrong = foreign.intersection(world.ledger.foreign(ids, to: session)).subtracting(lost)
            if let id = wrong.min() { world.ledger.note("\(session) saved download \(id), which is not its own") }
            return lost
        } rows: { lost in
            Self.rows(records.filter { !lost.contains($0.id) })
        }
    }

    func change(_ ids: [DownloadID], _ change: DownloadChange, session: String) async throws -> [ChangedRecord] {
        try await changing(ids) {
            try await inner.change(ids, change, session: session)
        } rows: { changed in
            Self.rows(changed.lazy.filter(\.didChange).map(\.record))
        }
    }

    func remove(
        _ ids: [DownloadID], session: String, deleting: @escaping @Sendable (DownloadRecord) -> Void
    ) async throws -> [DownloadRecord] {
        // The file of a completed download is deleted after this call, so a lost answer would leave the file.
        try await changing(ids, mayBeLost: false) {
            try await inner.remove(ids, session: session, deleting: deleting)
        } gone: { removed in
            removed.map(\.id)
        }
    }

    func pauseQueued(session: String, reason: DownloadState.PauseReason) async throws {
        let ids = world.ledger.ids(of: session)
        try await changing(ids) { try await inner.pauseQueued(session: session, reason: reason) }
    }
}
