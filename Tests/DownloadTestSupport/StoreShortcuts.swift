import DownloadCore

/// Calls of a store with the usual arguments.
extension DownloadStore {
    package func add(_ requests: [DownloadRequest], session: String) async throws -> [AddedDownload] {
        try await add(RequestList(requests), session: session)
    }

    package func remove(_ ids: [DownloadID], session: String) async throws -> [DownloadRecord] {
        try await remove(ids, session: session) { _ in }
    }
}
