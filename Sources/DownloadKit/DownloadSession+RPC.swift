import DownloadCore
import DownloadRPC

extension DownloadSession {
    /// Serves aria2's RPC, the page and dlm's own API over HTTP, for the background session of this process. Clients
    /// see the downloads of all sessions of the store, as commands do.
    /// - Throws: ``DownloadError/sessionUnavailable(_:)`` if the address cannot be used.
    package static func serveRPC(
        _ manager: SessionManager, _ configuration: RPCConfiguration, time: any TimeSource,
        report: @escaping @Sendable (String) -> Void
    ) async throws(DownloadError) -> RPCServer {
        let others = sessions(stateFolder: configuration.stateFolder, time: time)
        let router = DownloadRouter(local: manager, directory: OwnBackground(own: manager, others: others))
        return try await RPCServer.start(
            router, configuration, identifier: manager.identifier, time: time, report: report)
    }
}

/// The sessions of a store for the background session itself, which needs no socket to reach its own downloads.
private struct OwnBackground: SessionDirectory {
    let own: SessionManager
    let others: any SessionDirectory

    func isAlive(_ identifier: String) -> Bool { others.isAlive(identifier) }
    func liveSessions() -> [String] { others.liveSessions() }

    func connect(to identifier: String) async throws -> any DownloadService {
        identifier == own.identifier ? own : try await others.connect(to: identifier)
    }

    func startBackground() async throws -> any DownloadService { own }
    func close() { others.close() }
}
