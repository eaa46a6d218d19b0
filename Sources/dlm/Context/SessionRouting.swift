import DownloadKit

/// The service that commands use: the live sessions, and all downloads of a store, whichever session runs them.
protocol SessionRouting: DownloadService {
    /// Returns the background session, and starts it if necessary.
    func background() async throws -> any DownloadService
    /// Returns the status of every live session, or an error for a session that does not answer.
    func sessions() async -> [(identifier: String, status: Result<SessionStatus, any Error>)]
}

extension DownloadRouter: SessionRouting {}
