import DownloadKit

/// What a command speaks to: the downloads of a store, whoever works on them, and the sessions there are.
protocol SessionRouting: DownloadService {
    /// The background session, started if need be.
    func background() async throws -> any DownloadService
    /// What every live session says of itself; those that do not answer come as errors.
    func sessions() async -> [(identifier: String, status: Result<SessionStatus, any Error>)]
}

extension DownloadRouter: SessionRouting {}
