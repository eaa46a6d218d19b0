import CurlTransport
import DownloadControl
import DownloadCore
import DownloadStorage
import Foundation
import Synchronization

/// The sessions of one store. A lock shows that a session is alive, and a socket connects to it.
final class StoreSessions: SessionDirectory {
    private let registry: SessionRegistry
    private let stateFolder: String
    private let time: any TimeSource
    private let start: (@Sendable () async throws -> Void)?
    /// The transport of all requests to sessions, created with the first request.
    private let transport = Mutex<(any Transport)?>(nil)

    /// The time to wait for the socket of a live session. A session that starts has its lock shortly before it has its
    /// socket. A session that ends removes its socket shortly before it releases its lock.
    private static let patience = Duration.seconds(5)

    init(
        _ registry: SessionRegistry, _ stateFolder: String,
        startBackground: (@Sendable () async throws -> Void)?, time: any TimeSource
    ) {
        self.time = time
        self.registry = registry
        self.stateFolder = stateFolder
        start = startBackground
    }

    func isAlive(_ identifier: String) -> Bool { registry.isAlive(identifier) }

    func liveSessions() -> [String] { registry.liveSessions() }

    func connect(to identifier: String) async throws -> any DownloadService {
        let client = try client(of: identifier)
        let deadline = time.now + Self.patience
        while true {
            do {
                try await client.checkAvailability()
                return client
            } catch DownloadError.sessionUnavailable(.notRunning) where registry.isAlive(identifier) {
                guard time.now < deadline else {
                    throw DownloadError.sessionUnavailable(.notAnswering(identifier, message: "it has no socket"))
                }
                try await time.sleep(for: .milliseconds(20))
            }
        }
    }

    func startBackground() async throws -> any DownloadService {
        let identifier = SessionIdentifier.background
        do {
            // If systemd listens on the session's socket, connecting also starts the session.
            return try await connect(to: identifier)
        } catch DownloadError.sessionUnavailable(let failure)
            where failure == .notRunning(identifier) || failure == .shuttingDown
        {
            guard let start else { throw DownloadError.sessionUnavailable(.notRunning(identifier)) }
            try await start()
            return try await connect(to: identifier)
        }
    }

    func close() {
        let transport = transport.withLock { transport in
            defer { transport = nil }
            return transport
        }
        transport?.shutdown()
    }

    private func client(of identifier: String) throws -> ControlClient {
        let transport = try transport.withLock { transport in
            if let transport { return transport }
            let new: any Transport = try CurlTransport(environment: [:])
            transport = new
            return new
        }
        return ControlClient(
            transport: transport,
            location: SessionLocation(stateFolder: stateFolder, identifier: identifier), time: time)
    }
}
