import DownloadCore
import DownloadKit
import DownloadTestSupport
import Foundation
import Synchronization

@testable import dlm

/// A `DownloadService` with scripted behaviour. Changes by commands and by `changeElsewhere` are recorded in its log,
/// as in a store's log.
final class FakeService: SessionRouting {
    typealias Add = @Sendable (FakeService, [DownloadRequest]) throws -> [AddedDownload]
    typealias Resume = @Sendable (FakeService, [DownloadID], RequestOverrides) throws -> [ClaimedDownload]

    struct State {
        var records: [DownloadID: DownloadRecord] = [:]
        /// How often each download was looked up (see `onLook`).
        var looks: [DownloadID: Int] = [:]
        /// How often any download was looked up, counted after each lookup.
        var seen = 0
        var calls: [String] = []
        var requests: [DownloadRequest] = []
        var configuration: SessionConfiguration?
        /// The downloads whose session is dead.
        var unattended: Set<DownloadID> = []
        var sessions: [String] = []
        var settings = SessionSettings()
        /// The service that ``FakeService/background()`` returns.
        var background: FakeService?
        /// The error that a change of downloads throws.
        var changeFailure: DownloadError?
        var events: [LoggedEvent] = []
        var logs: [AsyncThrowingStream<LogEntry, any Error>.Continuation] = []
    }

    let state = Mutex(State())
    /// The number of lookups of downloads, plus the number of readers of the log.
    private let visits = Observed(0)
    private let onAdd: Add
    private let onResume: Resume
    /// Called at each lookup of a download. It may change the records before they are returned.
    private let onLook: @Sendable (FakeService, DownloadID) -> Void
    private let stream: AsyncStream<EventGroup>
    private let continuation: AsyncStream<EventGroup>.Continuation

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

    /// Waits until the condition holds. The condition is checked after each lookup of downloads and after each new
    /// reader of the log.
    func wait(until isMet: @escaping @Sendable (FakeService) -> Bool) async {
        _ = await visits.wait { _ in isMet(self) }
    }

    /// Whether the log has a reader.
    var isLogged: Bool { state.withLock { !$0.logs.isEmpty } }
    var calls: [String] { state.withLock(\.calls) }
    var requests: [DownloadRequest] { state.withLock(\.requests) }
    var configuration: SessionConfiguration? { state.withLock(\.configuration) }

    /// Records a download with the next number.
    func insert(_ request: DownloadRequest, session: String? = "here") -> DownloadRecord {
        state.withLock { state in
            var record = DownloadRecord(
                id: DownloadID(state.records.count + 1), request: request, created: Date(timeIntervalSince1970: 0))
            record.session = session
            state.records[record.id] = record
            return record
        }
    }

    /// Changes a record and returns the changed record.
    @discardableResult
    func change(_ id: DownloadID, _ change: (inout DownloadRecord) -> Void) -> DownloadSnapshot {
        state.withLock { state in
            var record = state.records[id] ?? .example(id: id)
            change(&record)
            state.records[id] = record
            return DownloadSnapshot(record: record)
        }
    }

    /// Changes a record as another process would, with an entry in the log.
    func changeElsewhere(
        _ id: DownloadID, _ kind: LoggedEvent.Kind, _ change: (inout DownloadRecord) -> Void = { _ in }
    ) {
        let snapshot = self.change(id, change)
        log(kind, snapshot.record)
        if kind == .removed { forget(id) }
    }

    private func log(_ kind: LoggedEvent.Kind, _ record: DownloadRecord) {
        state.withLock { state in
            let event = LoggedEvent(
                cursor: Int64(state.events.count + 1), time: Date(timeIntervalSince1970: 1_700_000_000), kind: kind,
                id: record.id, name: record.displayName, url: record.request.url.string, session: record.session,
                state: kind == .removed ? nil : record.state, received: record.received, total: record.resume.total)
            state.events.append(event)
            for log in state.logs { log.yield(.event(event)) }
        }
    }

    func forget(_ id: DownloadID) { state.withLock { $0.records[id] = nil } }

    func send(_ event: DownloadEvent) { continuation.yield(.events([event])) }

    func add(_ requests: RequestList) async throws -> [AddedDownload] {
        state.withLock {
            $0.calls.append("add \(requests.count)")
            $0.requests += requests
        }
        return try onAdd(self, Array(requests))
    }

    func resume(_ ids: [DownloadID], overrides: RequestOverrides) async throws -> [ClaimedDownload] {
        state.withLock { $0.calls.append("resume \(ids)") }
        return try onResume(self, ids, overrides)
    }

    func snapshots(_ selection: DownloadSelection) async throws -> [DownloadSnapshot] {
        defer { visits.update { $0 += 1 } }
        if case .ids(let ids) = selection.which {
            for id in ids {
                state.withLock { $0.looks[id, default: 0] += 1 }
                onLook(self, id)
                if state.withLock({ $0.records[id] == nil }) { throw DownloadError.noSuchDownload(id) }
            }
        }
        return state.withLock { state in
            let all: [DownloadRecord]
            if case .ids(let ids) = selection.which {
                state.seen += ids.count
                all = Set(ids).sorted().compactMap { state.records[$0] }
            } else {
                all = state.records.values.filter { Self.isMeant($0, by: selection) }.sorted { $0.id < $1.id }
            }
            let limit = selection.limit ?? .max
            let page = selection.after.map { after in all.filter { $0.id > after }.prefix(limit) } ?? all.suffix(limit)
            return page.map { record in
                var snapshot = DownloadSnapshot(record: record)
                snapshot.isAttended = record.session != nil && !state.unattended.contains(record.id)
                return snapshot
            }
        }
    }

    func change(_ ids: [DownloadID], _ change: DownloadChange) async throws -> [ChangedDownload] {
        try state.withLock { state in
            if let unknown = ids.first(where: { state.records[$0] == nil }) {
                throw DownloadError.noSuchDownload(unknown)
            }
            if let failure = state.changeFailure { throw failure }
            state.calls.append("change \(ids) \(change)")
        }
        return ids.map { id in
            var didChange = false
            let snapshot = self.change(id) { didChange = $0.apply(change) }
            if didChange { log(Self.kind(change), snapshot.record) }
            return ChangedDownload(snapshot: snapshot, didChange: didChange)
        }
    }

    private static func kind(_ change: DownloadChange) -> LoggedEvent.Kind {
        switch change {
        case .pause: .paused
        case .cancel: .cancelled
        case .priority, .rateLimit, .url, .mirrors: .changed
        }
    }

    func log(since cursor: EventCursor?) async throws -> AsyncThrowingStream<LogEntry, any Error> {
        defer { visits.update { $0 += 1 } }
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: LogEntry.self)
        state.withLock { state in
            state.calls.append("log \(cursor.map { "\($0)" } ?? "from now on")")
            let last = state.events.last?.cursor ?? 0
            for event in state.events where event.cursor > cursor ?? last { continuation.yield(.event(event)) }
            continuation.yield(.didFinishEvents(last))
            state.logs.append(continuation)
        }
        return stream
    }

    func moveToBackground(
        _ ids: [DownloadID], adapt: @escaping @Sendable (DownloadRequest) -> DownloadRequest
    ) async throws -> [DownloadRecord] {
        state.withLock { state in
            state.calls.append("background \(ids)")
            return ids.compactMap { state.records[$0] }
        }
    }

    func status() async throws -> SessionStatus { Self.status("here", state.withLock(\.settings)) }

    func configure(_ settings: SessionSettings) async throws {
        state.withLock { state in
            state.calls.append("configure")
            state.settings = settings
        }
    }

    func shutdown(_ mode: ShutdownMode) async throws { state.withLock { $0.calls.append("shutdown \(mode)") } }

    func background() async throws -> any DownloadService {
        guard let background = state.withLock(\.background) else {
            throw DownloadError.sessionUnavailable(.startFailed(message: "there is none"))
        }
        return background
    }

    func sessions() async -> [(identifier: String, status: Result<SessionStatus, any Error>)] {
        state.withLock { state in
            state.sessions.map { ($0, .success(Self.status($0, state.settings))) }
        }
    }

    private static func status(_ identifier: String, _ settings: SessionSettings) -> SessionStatus {
        SessionStatus(
            identifier: identifier, pid: 1, version: "0", started: Date(timeIntervalSince1970: 0), running: 0,
            waiting: 0, queued: 0, settings: settings, isFinishing: false)
    }

    private static func isMeant(_ record: DownloadRecord, by selection: DownloadSelection) -> Bool {
        switch selection.which {
        case .ids(let ids): ids.contains(record.id)
        case .states(let states): states.contains(record.state.kind)
        case .file(let folder, let name): record.request.destination.folder == folder && record.fileName == name
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
            state.records.values.filter { $0.state.kind.isActive || $0.state == .paused(.user) }
                .map { DownloadSnapshot(record: $0).progress }
        }
    }

    func events() async -> DownloadEvents { DownloadEvents(groups: stream) }

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
        for log in state.withLock(\.logs) { log.finish() }
    }
}
