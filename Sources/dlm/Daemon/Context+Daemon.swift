import DownloadKit

extension Context {
    /// The background session of this user's state folder, running or not.
    func backgroundSession() throws -> BackgroundSession {
        let folder = try SessionConfiguration.stateFolder(environment: environment)
        return BackgroundSession(stateFolder: folder, directory: DownloadSession.directory(stateFolder: folder))
    }
}
