import DownloadCore
import DownloadStorage

/// Calls of a store with the usual arguments.
extension DownloadStore {
    package func add(_ requests: [DownloadRequest], session: String) async throws -> [AddedDownload] {
        try await add(RequestList(requests), session: session)
    }

    package func remove(_ ids: [DownloadID], session: String) async throws -> [DownloadRecord] {
        try await remove(ids, session: session) { _ in }
    }
}

extension SQLiteDownloadStore {
    /// Makes an empty store in memory, as for downloads that are not recorded.
    package static func inMemory(
        isAlive: @escaping @Sendable (String) -> Bool = { _ in true }
    ) -> SQLiteDownloadStore {
        do {
            return try SQLiteDownloadStore(folder: nil, isAlive: isAlive)
        } catch {
            preconditionFailure("SQLite makes no store in memory: \(error)")
        }
    }
}
