import DownloadCore
import DownloadSystem
import Foundation
import Synchronization

/// A quick store for tests, which keeps the records as values. It keeps the contract of every store. Unlike the store of
/// the product, it also keeps the secrets of requests.
package final class InMemoryDownloadStore: DownloadStore {
    package let path = ""
    private let folders = Observed<[String: FolderKnowledge]>([:])

    /// The key of a download. Two requests with the same key get the same download.
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
        var log = InMemoryEventLog()
        private var ids: [Key: Set<DownloadID>] = [:]
        private var lastID: DownloadID = 0
        var hooks: [(session: String, hook: DueHook)] = []

        mutating func nextID() -> DownloadID {
            lastID = lastID.advanced(by: 1)
            return lastID
        }

        func newest(like request: DownloadRequest) -> DownloadRecord? {
            ids[Key(request)]?.max().flatMap { records[$0] }
        }

        mutating func put(_ record: DownloadRecord, at time: Date) {
            let old = take(record.id)
            records[record.id] = record
            ids[Key(record.request), default: []].insert(record.id)
            log.note(record, after: old, at: time)
        }

        mutating func drop(_ id: DownloadID, at time: Date) {
            if let old = take(id) { log.noteRemoval(of: old, at: time) }
        }

        private mutating func take(_ id: DownloadID) -> DownloadRecord? {
            guard let old = records.removeValue(forKey: id) else { return nil }
            let key = Key(old.request)
            ids[key]?.remove(id)
            if ids[key]?.isEmpty == true { ids[key] = nil }
            return old
        }

        /// Returns the matching records in the order of their ids, which is also the order of their events.
        func matching(_ condition: (DownloadRecord) -> Bool) -> [DownloadRecord] {
            records.values.filter(condition).sorted { $0.id < $1.id }
        }

        /// Returns the records of `ids`, each once. Throws an error that names the first unknown id.
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
    private let time = SystemTime()

    /// - Parameter isAlive: Returns whether another session is still running.
    package init(isAlive: @escaping @Sendable (String) -> Bool = { _ in true }) { self.isAlive = isAlive }

    package func knowledge(ofFolder folder: String) async throws -> FolderKnowledge? { folders.value[folder] }

    package func learn(_ knowledge: FolderKnowledge, ofFolder folder: String) async throws {
        folders.update { $0[folder] = knowledge }
    }

    package func add(_ requests: RequestList, session: String) async throws -> [AddedDownload] {
        let now = time.date
        var ownership = DownloadOwnership(session: session, isAlive: isAlive)
        return state.withLock { state in
            requests.map { request in
                let known = state.newest(like: request).flatMap { record in
                    let isBusy = !ownership.isFree(record.state.kind, owner: record.session)
                    // The body and the secrets of a request are not stored, so it is unknown whether a running download
                    // has the same ones.
                    return isBusy && !request.isPlain ? nil : record
                }
                guard var record = known else {
                    let record = DownloadRecord(adding: request, id: state.nextID(), to: session, at: now)
                    state.put(record, at: now)
                    return AddedDownload(kind: .inserted, record: record)
                }
                if !ownership.isFree(record.state.kind, owner: record.session) {
                    return AddedDownload(kind: .joined, record: record)
                }
                record.queue(for: session, at: now, holdsBack: request.startsPaused)
                var request = request
                request.keepParts(of: record)
                record.request = request
                state.put(record, at: now)
                return AddedDownload(kind: .adopted, record: record)
            }
        }
    }

    package func claim(
        _ ids: [DownloadID], session: String, includingCompleted: Bool
    ) async throws -> [ClaimedDownload] {
        let now = time.date
        var ownership = DownloadOwnership(session: session, isAlive: isAlive)
        return try state.withLock { state in
            try state.found(ids).map { found in
                var record = found
                if record.state == .completed, !includingCompleted { return ClaimedDownload(.completed, record) }
                if !ownership.isFree(record.state.kind, owner: record.session) {
                    return ClaimedDownload(.running, record)
                }
                record.queue(for: session, at: now)
                state.put(record, at: now)
                return ClaimedDownload(.claimed, record)
            }
        }
    }

    package func queued(
        session: String, after position: QueuePosition?, excluding prefixes: [String], limit: Int
    ) async throws -> [DownloadEntry] {
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
        return inOrder.lazy.filter { record in !prefixes.contains { record.request.url.string.hasPrefix($0) } }
            .prefix(limit).map { DownloadEntry($0) }
    }

    package func save(
        _ records: [DownloadRecord], session: String, durably: Bool
    ) async throws -> Set<DownloadID> {
        let now = time.date
        return state.withLock { state in
            var lost: Set<DownloadID> = []
            for record in records {
                guard let old = state.records[record.id], old.session == session else {
                    lost.insert(record.id)
                    continue
                }
                if old.state.kind != record.state.kind, let hook = DueHook(record) {
                    state.hooks.append((session, hook))
                }
                state.put(record, at: now)
            }
            return lost
        }
    }

    package func records(_ selection: DownloadSelection) async throws -> [DownloadRecord] {
        try state.withLock { state in
            switch selection.which {
            case .ids(let ids): return try state.found(ids).newest(selection.limit)
            case .states(let kinds):
                return state.matching { kinds.contains($0.state.kind) }.page(selection)
            case .file(let folder, let name):
                return state.matching { $0.request.destination.folder == folder && $0.fileName == name }
                    .page(selection)
            case .all: return state.matching { _ in true }.page(selection)
            }
        }
    }

    package func remove(
        _ ids: [DownloadID], session: String, deleting: @escaping @Sendable (DownloadRecord) -> Void
    ) async throws -> [DownloadRecord] {
        let now = time.date
        var ownership = DownloadOwnership(session: session, isAlive: isAlive)
        return try state.withLock { state in
            let found = try state.found(ids)
            for record in found {
                if let holder = ownership.foreignHolder(of: record.state.kind, owner: record.session) {
                    throw DownloadError.sessionUnavailable(.ownedElsewhere(record.id, session: holder))
                }
            }
            for record in found {
                deleting(record)
                state.drop(record.id, at: now)
            }
            return found
        }
    }

    package func change(
        _ ids: [DownloadID], _ change: DownloadChange, session: String
    ) async throws -> [ChangedRecord] {
        let now = time.date
        var ownership = DownloadOwnership(session: session, isAlive: isAlive)
        return try state.withLock { state in
            let found = try state.found(ids)
            for record in found {
                if let holder = ownership.foreignHolder(of: record.state.kind, owner: record.session) {
                    throw DownloadError.sessionUnavailable(.ownedElsewhere(record.id, session: holder))
                }
            }
            return found.map { found in
                var record = found
                let didChange = record.apply(change, for: session, at: now)
                if didChange { state.put(record, at: now) }
                return ChangedRecord(record: record, didChange: didChange)
            }
        }
    }

    package func releaseDeadSessions() async throws {
        let now = time.date
        state.withLock { state in
            for var record in state.matching(\.state.kind.isActive) {
                if let owner = record.session, isAlive(owner) { continue }
                if record.state == .queued, record.belongsToBackground { continue }
                record.interrupt(at: now)
                state.put(record, at: now)
            }
        }
    }

    package func requeue(session: String) async throws {
        let now = time.date
        state.withLock { state in
            for var record in state.matching({ $0.session == session && $0.state.goesOnAlone }) {
                record.queue(for: session, at: now)
                state.put(record, at: now)
            }
        }
    }

    package func queuedCount(session: String) async throws -> Int {
        state.withLock { $0.records.values.count { $0.session == session && $0.state == .queued } }
    }

    package func events(after cursor: EventCursor, limit: Int) async throws -> [LoggedEvent] {
        state.withLock { $0.log.events(after: cursor, limit: limit) }
    }

    package func eventBounds() async throws -> (dropped: EventCursor, last: EventCursor) {
        state.withLock { $0.log.bounds }
    }

    package func dropEvents(keeping count: Int) async throws {
        state.withLock { $0.log.drop(keeping: count) }
    }

    package func removeEnded(before date: Date, limit: Int) async throws -> [DownloadRecord] {
        let now = time.date
        return state.withLock { state in
            let ended = state.matching { $0.state.kind.isEnded && $0.updated < date }
            let oldest = ended.sorted { ($0.updated, $0.id) < ($1.updated, $1.id) }.prefix(max(0, limit))
            for record in oldest { state.drop(record.id, at: now) }
            return Array(oldest)
        }
    }

    package func pauseQueued(session: String, reason: DownloadState.PauseReason) async throws {
        let now = time.date
        state.withLock { state in
            for var record in state.matching({ $0.session == session && $0.state == .queued }) {
                record.state = .paused(reason)
                record.leaveForeground()
                record.updated = now
                state.put(record, at: now)
            }
        }
    }

    package func takeHook(session: String) async throws -> DueHook? {
        state.withLock { state in
            let index = state.hooks.firstIndex { $0.session == session || !isAlive($0.session) }
            return index.map { state.hooks.remove(at: $0).hook }
        }
    }

    package func close() async {}
}

extension DownloadStore {
    /// Returns nil, for stores that keep no host profiles.
    package func knowledge(ofOrigin origin: String) async throws -> HostKnowledge? { nil }

    package func learn(_ knowledge: HostKnowledge, ofOrigin origin: String) async throws {}

    package func knowledge(ofFolder folder: String) async throws -> FolderKnowledge? { nil }

    package func learn(_ knowledge: FolderKnowledge, ofFolder folder: String) async throws {}

    /// Returns nil, for stores that keep no hooks. Then no hook is run.
    package func takeHook(session: String) async throws -> DueHook? { nil }

    /// Saves the records of the files, for stores that keep nothing else.
    package func save(
        _ files: SmallFiles, _ records: [DownloadRecord], session: String, durably: Bool
    ) async throws -> Set<DownloadID> {
        let files = files.completed.map(\.record) + files.finishing.map(\.finishing)
        return try await save(files + records, session: session, durably: durably)
    }
}

extension DownloadRecord {
    /// Records that the session of the download is gone. If it was a background session, the download still belongs to
    /// it, because the session will be started again.
    fileprivate mutating func interrupt(at now: Date) {
        state = .paused(.interrupted)
        leaveForeground()
        speed = nil
        updated = now
    }

    /// Whether the download belongs to a background session, dead or alive, and waits for that session.
    fileprivate var belongsToBackground: Bool { session.map { !SessionIdentifier.isForeground($0) } ?? false }
}

extension [DownloadRecord] {
    /// Returns the page of records that the selection describes. The records must be ordered by id.
    fileprivate func page(_ selection: DownloadSelection) -> [DownloadRecord] {
        guard let after = selection.after else { return newest(selection.limit) }
        return Array(filter { $0.id > after }.prefix(Swift.max(0, selection.limit ?? .max)))
    }
}
