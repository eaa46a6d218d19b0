import DownloadCore
import DownloadTestSupport
import Foundation
import Synchronization

/// A service that records its calls, and hangs or fails on demand.
final class ControlledService: DownloadService {
    struct State: Sendable {
        var records: [DownloadID: DownloadRecord] = [:]
        var nextID: DownloadID = 1
        var calls: [String] = []
        var requests: [DownloadRequest] = []
        var overrides: RequestOverrides?
        var settings = SessionSettings(maxConcurrent: 4, maxPerHost: 2)
        var failure: DownloadError?
        /// The connections of each download.
        var connections: [ConnectionProgress] = []
        /// The events that `log` returns.
        var events: [LoggedEvent] = []
        /// The number of entries read from endless logs.
        var pulled = 0
        var openLogs = 0
        /// Whether the logs end with an error, as if the session were gone.
        var isLogEnded = false
        var shutdown: ShutdownMode?
    }

    let state = Observed(State())
    /// If there is a gate, every change of downloads waits until the gate is true.
    let gate = Mutex<Observed<Bool>?>(nil)
    /// Whether logs consist of invented events without end.
    let endless: Bool

    init(endless: Bool = false) { self.endless = endless }

    var calls: [String] { state.value.calls }

    private func note(_ call: String) throws {
        let failure = state.update { state in
            state.calls.append(call)
            return state.failure
        }
        if let failure { throw failure }
    }

    func add(_ requests: RequestList) async throws -> [AddedDownload] {
        try note("add \(requests.count)")
        return state.update { state in
            state.requests += requests
            return requests.map { request in
                if requests.count < 50, let known = state.records.values.first(where: { $0.request.url == request.url })
                {
                    return AddedDownload(kind: .joined, record: known)
                }
                var record = DownloadRecord(
                    id: state.nextID, request: request, created: Date(timeIntervalSince1970: 1.5))
                record.session = "background"
                state.nextID = state.nextID.advanced(by: 1)
                state.records[record.id] = record
                return AddedDownload(kind: .inserted, record: record)
            }
        }
    }

    private func known(_ ids: [DownloadID]) throws -> [DownloadRecord] {
        let records = state.value.records
        return try ids.map { id in
            guard let record = records[id] else { throw DownloadError.noSuchDownload(id) }
            return record
        }
    }

    func resume(_ ids: [DownloadID], overrides: RequestOverrides) async throws -> [ClaimedDownload] {
        try note("resume \(ids.count)")
        state.update { $0.overrides = overrides }
        return try known(ids).map { record in
            switch record.state {
            case .completed: ClaimedDownload(.completed, record)
            case .running: ClaimedDownload(.running, record)
            default: ClaimedDownload(.claimed, record)
            }
        }
    }

    func change(_ ids: [DownloadID], _ change: DownloadChange) async throws -> [ChangedDownload] {
        try note("\(change) \(ids.count)")
        if let gate = gate.withLock(\.self) { _ = await gate.wait { $0 } }
        _ = try known(ids)
        return state.update { state in
            ids.compactMap { id in
                guard var record = state.records[id] else { return nil }
                let didChange = record.apply(change)
                state.records[id] = record
                return ChangedDownload(snapshot: DownloadSnapshot(record: record), didChange: didChange)
            }
        }
    }

    func remove(_ ids: [DownloadID], deletesFile: Bool) async throws {
        try note("remove \(ids) \(deletesFile)")
        _ = try known(ids)
        state.update { state in for id in ids { state.records[id] = nil } }
    }

    func snapshots(_ selection: DownloadSelection) async throws -> [DownloadSnapshot] {
        try note("snapshots \(selection.which)")
        let all = state.value.records
        let records =
            switch selection.which {
            case .ids(let ids): ids.compactMap { all[$0] }
            case .states(let states): all.values.filter { states.contains($0.state.kind) }
            case .file(let folder, let name):
                all.values.filter { $0.request.destination.folder == folder && $0.fileName == name }
            case .all: Array(all.values)
            }
        let connections = selection.isDetailed ? state.value.connections : nil
        let sorted = records.sorted { $0.id < $1.id }.map { record in
            var snapshot = DownloadSnapshot(record: record)
            snapshot.activeConnections = connections
            return snapshot
        }
        guard let after = selection.after else { return sorted.suffix(selection.limit ?? .max) }
        return Array(sorted.filter { $0.id > after }.prefix(selection.limit ?? .max))
    }

    func progress() async -> [DownloadProgress] {
        state.value.records.values.filter { $0.state == .running }.map { DownloadSnapshot(record: $0).progress }
    }

    func events() async -> DownloadEvents { DownloadEvents(groups: AsyncStream { nil }) }

    func log(since cursor: EventCursor?) async throws -> AsyncThrowingStream<LogEntry, any Error> {
        try note("log \(cursor.map(String.init) ?? "now")")
        state.update { $0.openLogs += 1 }
        let source = LogSource(self, cursor ?? state.value.events.last?.cursor ?? 0)
        return AsyncThrowingStream { try await source.next() }
    }

    func status() async throws -> SessionStatus {
        try note("status")
        let value = state.value
        var status = SessionStatus(
            identifier: "background", pid: getpid(), version: "9.9", started: Date(timeIntervalSince1970: 12.345),
            running: 1, waiting: 2, queued: 3, settings: value.settings, isFinishing: value.shutdown == .finish)
        status.hostPauses = [
            HostPause(origin: "http://h", status: 503, until: Date(timeIntervalSince1970: 7.5), causes: [4])
        ]
        return status
    }

    func configure(_ settings: SessionSettings) async throws {
        try note("configure")
        state.update { $0.settings = settings }
    }

    func shutdown(_ mode: ShutdownMode) async throws {
        try note("shutdown \(mode)")
        state.update { $0.shutdown = mode }
    }

    func pauseAll(_ reason: DownloadState.PauseReason) async {}
    func close() async {}
}

/// Returns the service's events, then `didFinishEvents`, then new events. The log closes when its reader is released.
private actor LogSource {
    private let service: ControlledService
    private var cursor: EventCursor
    private var isCaughtUp = false

    init(_ service: ControlledService, _ cursor: EventCursor) {
        self.service = service
        self.cursor = cursor
    }

    deinit { service.state.update { $0.openLogs -= 1 } }

    func next() async throws -> LogEntry? {
        if service.endless {
            cursor += 1
            service.state.update { $0.pulled += 1 }
            return .event(.example(cursor))
        }
        let seen = cursor
        if isCaughtUp {
            while await !service.state.wait(atMost: .milliseconds(50), until: { ($0.events.last?.cursor ?? 0) > seen })
            {
                try Task.checkCancellation()
                if service.state.value.isLogEnded { throw DownloadError.sessionUnavailable(.notRunning("background")) }
            }
        }
        if let event = service.state.value.events.last(where: { $0.cursor == seen + 1 }) {
            cursor = event.cursor
            return .event(event)
        }
        isCaughtUp = true
        return .didFinishEvents(cursor)
    }
}

extension LoggedEvent {
    static func example(
        _ cursor: EventCursor, _ kind: Kind = .started, id: DownloadID = 1, state: DownloadState? = .running
    ) -> LoggedEvent {
        LoggedEvent(
            cursor: cursor, time: Date(timeIntervalSince1970: 1000.25), kind: kind, id: id, name: "a.bin",
            url: "http://127.0.0.1:9/a.bin", session: "background", state: state, received: 7, total: 70)
    }
}

extension DownloadRequest {
    static func example(_ path: String = "a.bin") -> DownloadRequest {
        guard case .success(let parsed) = SourceURL.parse("http://127.0.0.1:9/\(path)") else {
            preconditionFailure("a constant URL is well-formed")
        }
        return DownloadRequest(url: parsed.url, destination: Destination(folder: "/tmp/x"))
    }
}
