import CurlTransport
import DownloadCore
import DownloadStorage
import Foundation

/// The front door.
public enum DownloadSession {
    /// dlm's version, as `dlm --version` and the user agent tell it.
    public static let version = "0.1.0"

    /// A session manager in this process. Threads and the session's lock are made when the first download needs them.
    /// - Throws: ``DownloadError`` when the store cannot be opened.
    public static func open(_ configuration: SessionConfiguration) async throws -> SessionManager {
        let identifier = identifier(of: configuration.kind)
        let registry = SessionRegistry(stateFolder: configuration.stateFolder)
        let store: any DownloadStore
        if configuration.kind == .ephemeral {
            store = InMemoryDownloadStore()
        } else {
            store = try SQLiteDownloadStore(folder: configuration.stateFolder, isAlive: registry.isAlive)
        }
        let isRecorded = configuration.kind != .ephemeral
        let parts = SessionManager.Parts(
            store: store, identifier: identifier, version: version,
            start: {
                if isRecorded, try !registry.register(identifier) {
                    throw DownloadError.sessionUnavailable(.alreadyRunning(identifier))
                }
                return try CurlTransport(environment: ProcessInfo.processInfo.environment)
            },
            end: { if isRecorded { registry.unregister(identifier) } })
        return SessionManager(
            parts: parts, maxConcurrent: configuration.maxConcurrent, maxPerHost: configuration.maxPerHost)
    }

    /// A foreground session is never asked for by name: the process and a random part make it unique.
    private static func identifier(of kind: SessionConfiguration.Kind) -> String {
        switch kind {
        case .foreground, .ephemeral:
            "foreground-\(getpid())-\(String(UInt32.random(in: 0...UInt32.max), radix: 36))"
        case .background(let identifier): identifier
        }
    }
}
