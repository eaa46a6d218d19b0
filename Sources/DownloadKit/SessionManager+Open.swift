import DownloadCore

/// The front door.
public enum DownloadSession {
    /// A session manager in this process. Threads and the session's lock are made when the first download needs them.
    public static func open(_ configuration: SessionConfiguration) async throws -> any DownloadService {
        throw DownloadError.unexpected("not built yet")
    }
}
