import DownloadCore
import Foundation
import Synchronization

/// A `DownloadService` that does as it is told.
final class FakeService: DownloadService {
    typealias Add = @Sendable (FakeService, [DownloadRequest]) throws -> [AddedDownload]
    typealias Resume = @Sendable (FakeService, [DownloadID], RequestOverrides) throws -> [ClaimedDownload]

    struct State {
        var records: [DownloadID: DownloadRecord] = [:]
        /// How often each download was looked at.
        var looks: [DownloadID: Int] = [:]
        var calls: [String] = []
        var requests: [DownloadRequest] = []
        var configuration: SessionConfiguration?
    }

    let state = Mutex(State())
    private let onAdd: Add
    private let onResume: Resume
    /// May change the records before they are returned.
    private let onLook: @Sendable (FakeService, DownloadID) -> Void
    private let stream: AsyncStream<DownloadEvent>
    private let continuation: AsyncStream<DownloadEvent>.Continuation

    init(
        onAdd: @escaping Add = { _, _ in [] },
        onResume: @escaping Resume = { _, _, _ in [] },
        onLook: @escaping @Sendable (FakeService, DownloadID) -> Void = { _, _ in }
    ) {
        self.onAdd = onAdd
        self.onResume = onResume
        self.onLook = onLook
        (stream, continuation) = AsyncStream.makeStream()
    }

    var calls: [String] { state.withLock(\.calls) }
    var requests: [DownloadRequest] { state.withLock(\.requests) }
    var configuration: SessionConfiguration? { state.withLock(\.configuration) }

    /// Records it, with the next number.
    func insert(_ request: DownloadRequest, session: String? = "here") -> DownloadRecord {
        state.withLock { state in
            var record = DownloadRecord(
                id: Int64(state.records.count + 1), request: request, created: Date(timeIntervalSince1970: 0))
            record.session = session
            state.records[record.id] = record
            return record
        }
    }

    /// Changes a record and returns it as it is then.
    @discardableResult
    func change(_ id: DownloadID, _ change: (inout DownloadRecord) -> Void) -> DownloadSnapshot {
        state.withLock { state in
            var record = state.records[id] ?? .example(id: id)
            change(&record)
            state.records[id] = record
            return DownloadSnapshot(record: record)
        }
    }

    func forget(_ id: DownloadID) { state.withLock { $0.records[id] = nil } }

    func send(_ event: DownloadEvent) { continuation.yield(event) }

    func add(_ requests: [DownloadRequest]) async throws -> [AddedDownload] {
        state.withLock {
            $0.calls.append("add \(requests.count)")
            $0.requests += requests
        }
        return try onAdd(self, requests)
    }

    func resume(_ ids: [DownloadID], overrides: RequestOverrides) async throws -> [ClaimedDownload] {
        state.withLock { $0.calls.append("resume \(ids)") }
        return try onResume(self, ids, overrides)
    }

    func snapshots(_ selection: DownloadSelection) async throws -> [DownloadSnapshot] {
        if case .ids(let ids) = selection.which {
            for id in ids {
                state.withLock { $0.looks[id, default: 0] += 1 }
                onLook(self, id)
            }
        }
        return state.withLock { state in
            state.records.values.filter { Self.isMeant($0, by: selection) }.sorted { $0.id < $1.id }
                .suffix(selection.limit ?? .max).map { DownloadSnapshot(record: $0) }
        }
    }

    private static func isMeant(_ record: DownloadRecord, by selection: DownloadSelection) -> Bool {
        switch selection.which {
        case .ids(let ids): ids.contains(record.id)
        case .states(let states): states.contains(record.state.kind)
        case .all: true
        }
    }

    func remove(_ ids: [DownloadID], deletesFile: Bool) async throws {
        state.withLock { state in
            state.calls.append("remove \(ids) \(deletesFile)")
            for id in ids { state.records[id] = nil }
        }
    }

    func progress() async -> [DownloadProgress] {
        state.withLock { state in
            state.records.values.filter(\.state.kind.isActive).map { DownloadSnapshot(record: $0).progress }
        }
    }

    func events() async -> AsyncStream<DownloadEvent> { stream }

    func pauseAll(_ reason: DownloadState.PauseReason) async {
        let paused = state.withLock { state in
            state.calls.append("pauseAll \(reason)")
            let ids = state.records.values.filter { $0.state.kind.isActive && $0.session == "here" }.map(\.id)
            for id in ids { state.records[id]?.state = .paused(reason) }
            return ids.compactMap { state.records[$0] }
        }
        for record in paused { send(.didPause(DownloadSnapshot(record: record))) }
    }

    func close() async {
        state.withLock { $0.calls.append("close") }
        continuation.finish()
    }
}
