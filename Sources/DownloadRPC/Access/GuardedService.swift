import DownloadControl
import DownloadCore

/// The service for network clients. It checks new downloads, options and URLs with ``RequestRule`` before it passes
/// them on. All requests from the network go through this service, so that no part of the server can forget the rule.
struct GuardedService: DownloadService {
    let service: any DownloadService
    let rule: RequestRule

    func add(_ requests: RequestList) async throws -> [AddedDownload] {
        guard requests.count <= RequestRule.mostRequests else {
            throw WireProblem("give at most \(RequestRule.mostRequests) downloads at once")
        }
        var checked = RequestList()
        for request in requests { checked.append(try rule.checked(request)) }
        return try await service.add(checked)
    }

    func resume(_ ids: [DownloadID], overrides: RequestOverrides) async throws -> [ClaimedDownload] {
        try await check(overrides, of: ids)
        var overrides = overrides
        overrides.trust?.refusesOwnLogins = nil
        if !rule.permitsPrivateHosts { overrides.network.refusesPrivateAddresses = true }
        return try await service.resume(ids, overrides: overrides)
    }

    /// Checks whether network clients may resume these downloads with these options.
    /// - Throws: ``WireProblem`` if they may not.
    func check(_ overrides: RequestOverrides, of ids: [DownloadID]) async throws {
        try rule.check(overrides)
        var plain = RequestOverrides()
        (plain.inBackground, plain.acceptsUnverified) = (overrides.inBackground, overrides.acceptsUnverified)
        // Options such as a proxy or other addresses decide where the bytes come from.
        if overrides != plain { try await requireOfNetwork(ids) }
    }

    func change(_ ids: [DownloadID], _ change: DownloadChange) async throws -> [ChangedDownload] {
        switch change {
        case .pause, .cancel, .priority, .rateLimit: break
        case .url(let url, _):
            try rule.check(url)
            try await requireOfNetwork(ids) { $0.url = url }
        case .mirrors(let mirrors):
            for url in mirrors { try rule.check(url) }
            try await requireOfNetwork(ids) { $0.mirrors = mirrors }
        }
        return try await service.change(ids, change)
    }

    /// - Throws: ``WireProblem`` if a network client could not have added one of these downloads, either as it is now
    ///   or after the change.
    private func requireOfNetwork(
        _ ids: [DownloadID], after change: (inout DownloadRequest) -> Void = { _ in }
    ) async throws {
        for request in try await service.snapshots(.ids(ids)).map(\.record.request) {
            var changed = request
            change(&changed)
            guard rule.mightHaveAdded(request), rule.mightHaveAdded(changed) else {
                throw WireProblem(
                    "\(request.url.string): network clients may not change where the bytes of this download come from, "
                        + "because they could not have added it; change the download on the machine itself")
            }
        }
    }

    func remove(_ ids: [DownloadID], deletesFile: Bool) async throws {
        if deletesFile {
            for snapshot in try await service.snapshots(.ids(ids)) {
                guard let path = snapshot.path else { continue }
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

    /// Does nothing, because the server does not own the session.
    func close() async {}
}
