import DownloadKit

/// The service that commands use: the downloads of a store, in whichever session they run, and the live sessions.
protocol SessionRouting: DownloadService {
    /// Returns the background session, and starts it if necessary.
    func background() async throws -> any DownloadService
    /// Returns the status of every live session, or an error for a session that does not answer.
    func sessions() async -> [(identifier: String, status: Result<SessionStatus, any Error>)]
}

extension DownloadRouter: SessionRouting {}
