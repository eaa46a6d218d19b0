import DownloadKit

/// The user's selection of downloads for a command, before the downloads are looked up.
enum Chosen: Equatable {
    case ids([DownloadID])
    case states(Set<DownloadState.Kind>)

    /// Whether the user gave the ids of the downloads. If so, each is reported, even if there is nothing to do.
    var isByName: Bool { if case .ids = self { true } else { false } }
}

extension DownloadService {
    /// Returns the downloads with these ids, in the order of `ids`. Throws if any of the ids is unknown.
    func known(_ ids: [DownloadID], isDetailed: Bool = false) async throws -> [DownloadSnapshot] {
        let found = Dictionary(
            try await snapshots(.ids(ids, isDetailed: isDetailed)).map { ($0.id, $0) },
            uniquingKeysWith: { first, _ in first })
        return try ids.map { id in
            guard let snapshot = found[id] else { throw DownloadError.noSuchDownload(id) }
            return snapshot
        }
    }

    /// Calls `body` with the downloads of a selection, page by page, until it returns false.
    func eachPage(
        of which: DownloadSelection.Which, _ body: ([DownloadSnapshot]) async throws -> Bool
    ) async throws {
        var last: DownloadID = 0
        while true {
            try Task.checkCancellation()
            let page = try await snapshots(DownloadSelection(which, limit: Follower.chunk, after: last))
            guard let newest = page.last?.id, try await body(page) else { return }
            last = newest
        }
    }

    /// Calls `body` with the chosen downloads, in parts that fit into memory. Throws first if an id is unknown.
    func eachPart(of chosen: Chosen, _ body: ([DownloadSnapshot]) async throws -> Void) async throws {
        switch chosen {
        case .ids(let ids):
            let parts = ids.parts(of: Follower.chunk)
            if parts.count > 1 { for part in parts { _ = try await known(part) } }
            for part in parts {
                try Task.checkCancellation()
                try await body(try await known(part))
            }
        case .states(let states):
            // Queued downloads come first. Otherwise they would start while running downloads are being stopped.
            for states in [states.intersection([.queued]), states.subtracting([.queued])] where !states.isEmpty {
                try await eachPage(of: .states(states)) { part in
                    try await body(part)
                    return true
                }
            }
        }
    }
}

/// The service that commands use: the live sessions, and all downloads of a store, whichever session runs them.
protocol SessionRouting: DownloadService {
    /// Returns the background session, and starts it if necessary.
    func background() async throws -> any DownloadService
    /// Hands downloads of this process to the background session, with their secrets and the bytes that have come. No
    /// download can run in this process afterwards.
    /// - Parameter adapt: changes what is given to the background session, such as the proxy.
    /// - Returns: The downloads that the background session has now. Downloads that ended or were removed
    ///   meanwhile are left out.
    func moveToBackground(
        _ ids: [DownloadID], adapt: @escaping @Sendable (DownloadRequest) -> DownloadRequest
    ) async throws -> [DownloadRecord]
    /// Returns the status of every live session, or an error for a session that does not answer.
    func sessions() async -> [(identifier: String, status: Result<SessionStatus, any Error>)]
}

extension DownloadRouter: SessionRouting {}
