import DownloadKit

/// The service that commands use: the live sessions, and all downloads of a store, whichever session runs them.
protocol SessionRouting: DownloadService {
    /// Returns the background session, and starts it if necessary.
    func background() async throws -> any DownloadService
    /// Hands downloads of this process to the background session, with their secrets and the bytes that have come. No
    /// download can run in this process afterwards.
    /// - Parameter adapt: changes what is given to the background session, such as the proxy.
    /// - Returns: The downloads that the background session has now. Downloads that ended meanwhile are left out.
    func moveToBackground(
        _ ids: [DownloadID], adapt: @escaping @Sendable (DownloadRequest) -> DownloadRequest
    ) async throws -> [DownloadRecord]
    /// Returns the status of every live session, or an error for a session that does not answer.
    func sessions() async -> [(identifier: String, status: Result<SessionStatus, any Error>)]
}

extension DownloadRouter: SessionRouting {}
