import DownloadControl
import DownloadCore

/// The downloads as the network sees them: everything that comes in is judged by ``RequestRule`` first. All ways in lead
/// through here, so that none can forget the rule.
struct GuardedService: DownloadService {
    let service: any DownloadService
    let rule: RequestRule

    func add(_ requests: [DownloadRequest]) async throws -> [AddedDownload] {
        guard requests.count <= RequestRule.mostRequests else {
            throw WireProblem("give at most \(RequestRule.mostRequests) downloads at once")
        }
        var checked: [DownloadRequest] = []
        for request in requests { checked.append(try rule.checked(request)) }
        return try await service.add(checked)
    }

    func resume(_ ids: [DownloadID], overrides: RequestOverrides) async throws -> [ClaimedDownload] {
        try rule.check(overrides)
        var overrides = overrides
        if !rule.permitsPrivateHosts { overrides.network.refusesPrivateAddresses = true }
        return try await service.resume(ids, overrides: overrides)
    }

    func change(_ ids: [DownloadID], _ change: DownloadChange) async throws -> [ChangedDownload] {
        if case .url(let url, _) = change {
            try rule.check(url)
            // One that was added on this machine may go anywhere, and would go to the new address at once.
            if !rule.permitsPrivateHosts {
                let found = try await service.snapshots(.ids(ids))
                guard found.allSatisfy({ $0.record.request.network.refusesPrivateAddresses == true }) else {
                    throw WireProblem(
                        "url: of a download that was not added over the network; change it on the machine itself")
                }
            }
        }
        return try await service.change(ids, change)
    }

    func remove(_ ids: [DownloadID], deletesFile: Bool) async throws {
        if deletesFile {
            for snapshot in try await service.snapshots(.ids(ids)) {
                guard let path = snapshot.record.completed?.path ?? snapshot.record.finalPath else { continue }
                guard rule.folders.permitsDeletion(of: path) else {
                    throw WireProblem("\(path): files outside of rpc-folders are not deleted over the network")
                }
            }
        }
        try await service.remove(ids, deletesFile: deletesFile)
    }

    func snapshots(_ selection: DownloadSelection) async throws -> [DownloadSnapshot] {
        try await service.snapshots(selection)
    }

    func progress() async -> [DownloadProgress] { await service.progress() }
    func events() async -> DownloadEvents { await service.events() }

    func log(since cursor: EventCursor?) async throws -> AsyncThrowingStream<LogEntry, any Error> {
        try await service.log(since: cursor)
    }

    func checkAvailability() async throws { try await service.checkAvailability() }
    func status() async throws -> SessionStatus { try await service.status() }
    func configure(_ settings: SessionSettings) async throws { try await service.configure(settings) }
    func shutdown(_ mode: ShutdownMode) async throws { try await service.shutdown(mode) }
    func pauseAll(_ reason: DownloadState.PauseReason) async { await service.pauseAll(reason) }

    /// The server does not own the session.
    func close() async {}
}
