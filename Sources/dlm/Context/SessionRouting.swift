import DownloadKit

/// The service that commands use. It gives access to the live sessions, and to all downloads of a store, regardless of
/// the session that runs them.
protocol SessionRouting: DownloadService {
    /// Returns the background session, and starts it if necessary.
    func background() async throws -> any DownloadService
    /// Returns the status of every live session, or an error for a session that does not answer.
    func sessions() async -> [(identifier: String, status: Result<SessionStatus, any Error>)]
}

extension DownloadRouter: SessionRouting {}
