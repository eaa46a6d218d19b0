import DownloadCore
import DownloadSystem

/// One service through which a command reaches all downloads of a store. A call about a download goes to the session
/// that works on the download. If no session works on the download, the call goes to the session of this process, or
/// to the background session if that is to work on the download. The command sees no difference.
package final class DownloadRouter: DownloadService {
    /// The session of this process.
    package let local: SessionManager
    private let directory: any SessionDirectory

    package init(local: SessionManager, directory: any SessionDirectory) {
        self.local = local
        self.directory = directory
    }

    package func background() async throws -> any DownloadService { try await directory.startBackground() }

    /// Returns the status of every live session that is not ending, or an error for a session that does not answer.
    package func sessions() async -> [(identifier: String, status: Result<SessionStatus, any Error>)] {
        await answers(of: directory.liveSessions()) { try await $0.status() }
    }

    private func answers<Answer>(
        of sessions: [String], to ask: (any DownloadService) async throws -> Answer
    ) async -> [(String, Result<Answer, any Error>)] {
        var answers: [(String, Result<Answer, any Error>)] = []
        for identifier in sessions {
            do {
                answers.append((identifier, .success(try await ask(directory.connect(to: identifier)))))
            } catch DownloadError.sessionUnavailable(let failure) where failure.isEnd {
                continue
            } catch {
                answers.append((identifier, .failure(error)))
            }
        }
        return answers
    }

    // MARK: By owner

    package func change(_ ids: [DownloadID], _ change: DownloadChange) async throws -> [ChangedDownload] {
        try await route(ids) { [directory] record, owner in
            // The store keeps no passwords, so the session that will continue the download must get the new password.
            if owner == nil, case .url(_, .some) = change, let session = record.session,
                !SessionIdentifier.isForeground(session), directory.isAlive(session)
            {
                return .session(session)
            }
            return owner ?? .here
        } perform: { service, ids in
            try await service.change(ids, change)
        } id: {
            $0.snapshot.id
        }
    }

    package func remove(_ ids: [DownloadID], deletesFile: Bool) async throws {
        _ = try await route(ids) { _, owner in
            owner ?? .here
        } perform: { service, ids in
            try await service.remove(ids, deletesFile: deletesFile)
            return ids
        } id: {
            $0
        }
    }

    /// Resumes each download in the live session that owns it. A download without a live owner is resumed in the
    /// background session, if it belongs to that session or if `overrides` asks for it. Any other download is resumed
    /// in this process.
    package func resume(_ ids: [DownloadID], overrides: RequestOverrides) async throws -> [ClaimedDownload] {
        try await route(ids) { record, owner in
            if let owner { return owner }
            let isOfBackground = record.session.map { !SessionIdentifier.isForeground($0) } ?? false
            // A completed download whose file is present is only returned, which needs no session.
            let isWork = record.state != .completed || record.lacksFile
            return isWork && (isOfBackground || overrides.inBackground) ? .background : .here
        } perform: { service, ids in
            let claimed = try await service.resume(ids, overrides: overrides)
            if service is SessionManager { return claimed }
            return claimed.map { $0.kind == .claimed ? ClaimedDownload(.running, $0.record) : $0 }
        } id: {
            $0.record.id
        }
    }

    /// Pauses all downloads of this process, and resumes those of `ids` in the background session that still exist and
    /// have not ended. The session gets the secrets that only this process knows. No download can run in this process
    /// afterwards.
    /// - Parameter adapt: changes what is given to the background session, such as the proxy.
    /// - Returns: The downloads that the background session has now.
    package func moveToBackground(
        _ ids: [DownloadID], adapt: @escaping @Sendable (DownloadRequest) -> DownloadRequest
    ) async throws -> [DownloadRecord] {
        await local.pauseAll(.interrupt)
        let records = try await local.found(ids).snapshots.map(\.record).filter {
            !$0.state.kind.isEnded && $0.state != .paused(.user)
        }
        var moved: [DownloadRecord] = []
        var rest = await local.withSecrets(records)
        while let first = rest.first {
            var overrides = RequestOverrides(secretsOf: adapt(first.request))
            let alike = rest.prefix { RequestOverrides(secretsOf: adapt($0.request)) == overrides }.map(\.id)
            overrides.inBackground = true
            do {
                moved += try await resume(alike, overrides: overrides).map(\.record)
                rest.removeFirst(alike.count)
            } catch DownloadError.noSuchDownload(let id) where alike.contains(id) {
                rest.removeAll { $0.id == id }
            }
        }
        if moved.contains(where: { $0.session == local.identifier }) {
            throw DownloadError.unexpected(
                "a download could not be paused here, so the background session cannot have it")
        }
        return moved
    }

    private enum Place: Hashable {
        case here
        case session(String)
        case background
    }

    /// Calls each session for its downloads, and repeats the calls for downloads that moved to another session
    /// meanwhile.
    /// - Parameter place: returns the place that handles a download, given its live owner.
    private func route<Answer: Sendable>(
        _ ids: [DownloadID], _ place: (DownloadRecord, Place?) -> Place,
        perform: (any DownloadService, [DownloadID]) async throws -> [Answer], id: (Answer) -> DownloadID
    ) async throws -> [Answer] {
        var answers: [DownloadID: Answer] = [:]
        var left = ids.firstOccurrences
        var attempt = 0
        while !left.isEmpty {
            attempt += 1
            let records = try await local.snapshots(.ids(left)).map(\.record)
            let shares = Dictionary(grouping: records) { place($0, owner(of: $0)) }
            for (place, records) in shares {
                do {
                    let service = try await service(at: place)
                    for answer in try await perform(service, records.map(\.id)) { answers[id(answer)] = answer }
                } catch DownloadError.sessionUnavailable(let failure) where attempt < Self.attempts && failure.isMove {
                    continue
                }
            }
            left = left.filter { answers[$0] == nil }
        }
        return ids.firstOccurrences.compactMap { answers[$0] }
    }

    private static let attempts = 5

    /// Returns the other live session that works on the download or has paused it.
    private func owner(of record: DownloadRecord) -> Place? {
        guard let session = record.session, session != local.identifier,
            record.state.kind.isActive || record.state.kind == .paused, directory.isAlive(session)
        else { return nil }
        return .session(session)
    }

    private func service(at place: Place) async throws -> any DownloadService {
        switch place {
        case .session(let identifier) where identifier != local.identifier:
            try await directory.connect(to: identifier)
        case .background where local.identifier != SessionIdentifier.background: try await directory.startBackground()
        case .here, .session, .background: local
        }
    }

    // MARK: Here

    package func add(_ requests: RequestList) async throws -> [AddedDownload] { try await local.add(requests) }

    package func snapshots(_ selection: DownloadSelection) async throws -> [DownloadSnapshot] {
        var snapshots = try await local.snapshots(selection)
        if selection.isDetailed { await addConnections(to: &snapshots) }
        let queued = snapshots.filter { $0.state == .queued && $0.isAttended && $0.session != local.identifier }
        if queued.isEmpty { return snapshots }
        // A session is asked only if one of its downloads may have caused a pause. A stopped process would let the
        // caller wait for seconds.
        let waiting = try await local.snapshots(DownloadSelection(.states([.waiting])))
        let pausing = waiting.filter(\.mayPauseItsHost).compactMap(\.session)
        for session in Set(queued.compactMap(\.session)).intersection(pausing) {
            // The downloads of a session that does not answer are shown as queued.
            guard let pauses = try? await directory.connect(to: session).status().hostPauses else { continue }
            for index in snapshots.indices where snapshots[index].session == session {
                snapshots[index].show(pauses)
            }
        }
        return snapshots
    }

    /// Asks the other sessions for the connections of their running downloads. Without an answer, there are none.
    private func addConnections(to snapshots: inout [DownloadSnapshot]) async {
        let running = snapshots.indices.filter {
            let snapshot = snapshots[$0]
            return snapshot.state.kind == .running && snapshot.isAttended && snapshot.session != local.identifier
        }
        for (session, indices) in Dictionary(grouping: running, by: { snapshots[$0].session }) {
            let ids = DownloadSelection.ids(indices.map { snapshots[$0].id }, isDetailed: true)
            guard let session, let found = try? await directory.connect(to: session).snapshots(ids) else { continue }
            for index in indices {
                snapshots[index].activeConnections =
                    found.first { $0.id == snapshots[index].id }?.activeConnections
            }
        }
    }

    package func progress() async -> [DownloadProgress] { await local.progress() }

    package func events() async -> DownloadEvents { await local.events() }

    package func log(since cursor: EventCursor?) async throws -> AsyncThrowingStream<LogEntry, any Error> {
        try await local.log(since: cursor)
    }

    package func status() async throws -> SessionStatus { try await local.status() }

    /// Configures every live session that is not ending. If one session does not answer, the others are still configured.
    package func configure(_ settings: SessionSettings) async throws {
        try await local.configure(settings)
        let others = directory.liveSessions().filter { $0 != local.identifier }
        for (_, answer) in await answers(of: others, to: { try await $0.configure(settings) }) { try answer.get() }
    }

    package func shutdown(_ mode: ShutdownMode) async throws { try await local.shutdown(mode) }

    package func pauseAll(_ reason: DownloadState.PauseReason) async { await local.pauseAll(reason) }

    package func close() async {
        await local.close()
        directory.close()
    }
}

extension SessionFailure {
    /// Whether the failure means that the download has moved to another session.
    fileprivate var isMove: Bool {
        switch self {
        case .ownedElsewhere: true
        default: isEnd
        }
    }
}
