import Foundation
import Synchronization

/// A store that ends with the process: the ephemeral configuration, and tests.
public final class InMemoryDownloadStore: DownloadStore {
    /// What makes two requests one download.
    private struct Key: Hashable {
        let folder: String
        let url: String
        let askedName: String?

        init(_ request: DownloadRequest) {
            folder = request.destination.folder
            url = request.url.string
            askedName = request.destination.fileName
        }
    }

    private struct State {
        private(set) var records: [DownloadID: DownloadRecord] = [:]
        private var ids: [Key: Set<DownloadID>] = [:]
        private var lastID: DownloadID = 0

        mutating func nextID() -> DownloadID {
            lastID += 1
            return lastID
        }

        func newest(like request: DownloadRequest) -> DownloadRecord? {
            ids[Key(request)]?.max().flatMap { records[$0] }
        }

        mutating func put(_ record: DownloadRecord) {
            drop(record.id)
            records[record.id] = record
            ids[Key(record.request), default: []].insert(record.id)
        }

        mutating func drop(_ id: DownloadID) {
            guard let old = records.removeValue(forKey: id) else { return }
            let key = Key(old.request)
            ids[key]?.remove(id)
            if ids[key]?.isEmpty == true { ids[key] = nil }
        }

        /// The records of `ids`, each once; throws at the first unknown one.
        func found(_ ids: [DownloadID]) throws(DownloadError) -> [DownloadRecord] {
            var result: [DownloadRecord] = []
            for id in ids.firstOccurrences {
                guard let record = records[id] else { throw .noSuchDownload(id) }
                result.append(record)
            }
            return result
        }
    }

    private let state = Mutex(State())
    private let isAlive: @Sendable (String) -> Bool

    /// - Parameter isAlive: whether a session other than the one that asks still lives.
    public init(isAlive: @escaping @Sendable (String) -> Bool = { _ in true }) {
        self.isAlive = isAlive
    }

    public func add(_ requests: [DownloadRequest], session: String) async throws -> [AddedDownload] {
        let now = Date()
        var ownership = DownloadOwnership(session: session, isAlive: isAlive)
        return state.withLock { state in
            requests.map { request in
                guard var record = state.newest(like: request) else {
                    var record = DownloadRecord(id: state.nextID(), request: request, created: now)
                    record.session = session
                    state.put(record)
                    return AddedDownload(kind: .inserted, record: record)
                }
                if ownership.standing(of: record.state.kind, owner: record.session) == .busy {
                    return AddedDownload(kind: .joined, record: record)
                }
                record.queue(for: session, at: now)
                record.request = request
                state.put(record)
                return AddedDownload(kind: .adopted, record: record)
            }
        }
    }

    public func claim(_ ids: [DownloadID], session: String) async throws -> [ClaimedDownload] {
        let now = Date()
        var ownership = DownloadOwnership(session: session, isAlive: isAlive)
        return try state.withLock { state in
            try state.found(ids).map { found in
                var record = found
                if record.state == .completed { return .completed(record) }
                if ownership.standing(of: record.state.kind, owner: record.session) == .busy {
                    return .running(record)
                }
                record.queue(for: session, at: now)
                state.put(record)
                return .claimed(record)
            }
        }
    }

    public func queued(session: String, after position: QueuePosition?, limit: Int) async throws -> [DownloadRecord] {
        let waiting = state.withLock { state in
            state.records.values.filter { record in
                guard record.session == session, record.state == .queued else { return false }
                guard let position else { return true }
                let priority = record.request.priority
                return priority < position.priority || (priority == position.priority && record.id > position.id)
            }
        }
        let inOrder = waiting.sorted {
            ($1.request.priority, $0.id) < ($0.request.priority, $1.id)
        }
        return Array(inOrder.prefix(limit))
    }

    public func queued(session: String, excluding prefixes: [String], limit: Int) async throws -> [DownloadRecord] {
        let waiting = try await queued(session: session, after: nil, limit: .max)
        return Array(
            waiting.lazy.filter { record in !prefixes.contains { record.request.url.string.hasPrefix($0) } }
                .prefix(limit))
    }

    public func save(_ records: [DownloadRecord], session: String) async throws -> Set<DownloadID> {
        state.withLock { state in
            var lost: Set<DownloadID> = []
            for record in records {
                guard let old = state.records[record.id], old.session == session else {
                    lost.insert(record.id)
                    continue
                }
                state.put(record)
            }
            return lost
        }
    }

    public func records(_ selection: DownloadSelection) async throws -> [DownloadRecord] {
        try state.withLock { state in
            switch selection.which {
            case .ids(let ids): return try state.found(ids).newest(selection.limit)
            case .states(let kinds):
                let matching = state.records.values.filter { kinds.contains($0.state.kind) }
                return matching.sorted { $0.id < $1.id }.newest(selection.limit)
            case .all: return state.records.values.sorted { $0.id < $1.id }.newest(selection.limit)
            }
        }
    }

    public func remove(_ ids: [DownloadID], session: String) async throws -> [DownloadRecord] {
        var ownership = DownloadOwnership(session: session, isAlive: isAlive)
        return try state.withLock { state in
            let found = try state.found(ids)
            for record in found {
                if let holder = ownership.foreignHolder(of: record.state.kind, owner: record.session) {
                    throw DownloadError.sessionUnavailable(.ownedElsewhere(record.id, session: holder))
                }
            }
            for record in found { state.drop(record.id) }
            return found
        }
    }

    public func change(_ ids: [DownloadID], _ change: DownloadChange, session: String) async throws -> [ChangedRecord] {
        var ownership = DownloadOwnership(session: session, isAlive: isAlive)
        return try state.withLock { state in
            let found = try state.found(ids)
            for record in found {
                if let holder = ownership.foreignHolder(of: record.state.kind, owner: record.session) {
                    throw DownloadError.sessionUnavailable(.ownedElsewhere(record.id, session: holder))
                }
            }
            return found.map { old in
                var record = old
                let didChange = record.apply(change)
                if didChange, change == .pause || change == .cancel, !(change == .pause && record.session == session) {
                    record.leaveForeground()
                }
                if didChange { state.put(record) }
                return ChangedRecord(record: record, didChange: didChange)
            }
        }
    }
    public func queuedCount(session: String) async throws -> Int { 0 }
    public func requeue(session: String) async throws {
        state.withLock { state in
            for var record in state.records.values where record.session == session {
                if record.state.kind == .running || record.state.kind == .waiting
                    || record.state.kind == .paused && record.state != .paused(.user)
                {
                    record.state = .queued
                    state.put(record)
                }
            }
        }
    }
    public func dropEvents(keeping count: Int) async throws {}

    public func releaseDeadSessions() async throws {
        let now = Date()
        state.withLock { state in
            for var record in state.records.values where record.state.kind.isActive {
                if let owner = record.session, isAlive(owner) { continue }
                record.interrupt(at: now)
                state.put(record)
            }
        }
    }

    public func pauseQueued(session: String, reason: DownloadState.PauseReason) async throws {
        let now = Date()
        state.withLock { state in
            for var record in state.records.values where record.session == session && record.state == .queued {
                record.state = .paused(reason)
                record.session = nil
                record.updated = now
                state.put(record)
            }
        }
    }

    public func close() async {}
}

extension [DownloadRecord] {
    /// Those with the `limit` highest ids, in the order they are in.
    package func newest(_ limit: Int?) -> [DownloadRecord] {
        guard let limit, limit < count else { return self }
        let kept = Set(map(\.id).sorted(by: >).prefix(Swift.max(0, limit)))
        return filter { kept.contains($0.id) }
    }
}
