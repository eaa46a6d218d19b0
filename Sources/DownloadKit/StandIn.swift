import DownloadCore
import DownloadStorage
import Foundation

extension DownloadSession {
    public static func openBackground(
        _ configuration: SessionConfiguration, listener: Int32?, notice: @escaping @Sendable (String) -> Void
    ) async throws -> SessionManager {
        let registry = SessionRegistry(stateFolder: configuration.stateFolder)
        guard try registry.register("background") else {
            throw DownloadError.sessionUnavailable(.alreadyRunning("background"))
        }
        standInRegistry = registry
        let manager = try await open(configuration)
        return manager
    }
    nonisolated(unsafe) static var standInRegistry: SessionRegistry?
    public static func directory(stateFolder: String) -> any SessionDirectory { StandInDirectory(stateFolder: stateFolder) }
}
struct StandInDirectory: SessionDirectory {
    let stateFolder: String
    func isAlive(_ identifier: String) -> Bool { SessionRegistry(stateFolder: stateFolder).isAlive(identifier) }
    func liveSessions() -> [String] { [] }
    func connect(to identifier: String) async throws -> any DownloadService { throw DownloadError.cancelled }
    func startBackground() async throws -> any DownloadService { throw DownloadError.cancelled }
    func close() {}
}
