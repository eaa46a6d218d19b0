import CurlTransport
import DownloadCore
import DownloadEngine
import DownloadStorage
import DownloadSystem
import Foundation
import Synchronization

#if BackgroundSessions
    import DownloadControl
#endif

/// The sessions of one store. A lock shows that a session is alive, and a socket connects to it.
final class StoreSessions: SessionDirectory {
    private let registry: SessionRegistry
    private let stateFolder: String
    private let time: any TimeSource
    private let start: BackgroundStart?
    /// The transport of all requests to sessions, created with the first request.
    private let transport = Mutex<(any Transport)?>(nil)
    /// The store, opened with the first log that is read.
    private let store = Mutex<SQLiteDownloadStore?>(nil)

    /// Starts the background session before the deadline. Throws `alreadyRunning` if another process was faster.
    typealias BackgroundStart = @Sendable (_ deadline: ContinuousClock.Instant) async throws -> Void

    init(
        _ registry: SessionRegistry, _ stateFolder: String, startBackground: BackgroundStart?, time: any TimeSource
    ) {
        self.time = time
        self.registry = registry
        self.stateFolder = stateFolder
        start = startBackground
    }

    func isAlive(_ identifier: String) -> Bool { registry.isAlive(identifier) }

    func liveSessions() -> [String] { registry.liveSessions() }

    func connect(to identifier: String) async throws -> any DownloadService {
        #if BackgroundSessions
            let client = try client(of: identifier)
            // A verb has more time for its answer than this request, which a stopped process does not answer.
            try await client.checkAvailability()
            return client
        #else
            throw DownloadError.sessionUnavailable(
                .notAnswering(identifier, message: "this program was built without background sessions"))
        #endif
    }

    func startBackground() async throws -> any DownloadService {
        let session = BackgroundSession(stateFolder: stateFolder, directory: self, time: time)
        return try await session.open(wakes: true) {
            $0
        } orStart: { deadline in
            guard let start else { throw DownloadError.sessionUnavailable(.notRunning(session.identifier)) }
            try await start(deadline)
            return nil
        }
    }

    func close() {
        let transport = transport.withLock { transport in
            defer { transport = nil }
            return transport
        }
        transport?.shutdown()
        let store = store.withLock { store in
            defer { store = nil }
            return store
        }
        if let store { Task { await store.close() } }
    }

    #if BackgroundSessions
        private func client(of identifier: String) throws -> ControlClient {
            let transport = try transport.withLock { transport in
                if let transport { return transport }
                let new: any Transport = try CurlTransport(environment: [:])
                transport = new
                return new
            }
            return ControlClient(
                transport: transport,
                location: SessionLocation(stateFolder: stateFolder, identifier: identifier), time: time,
                isAlive: { [registry] in registry.isAlive(identifier) },
                readLog: { [self] in try await log(of: identifier, since: $0) })
        }

        private func log(
            of identifier: String, since cursor: EventCursor?
        ) async throws -> AsyncThrowingStream<LogEntry, any Error> {
            let store = try store.withLock { store in
                if let store { return store }
                let new = try SQLiteDownloadStore(folder: stateFolder, isAlive: registry.isAlive, time: time)
                store = new
                return new
            }
            let reader = try await EventLogReader(store: store, since: cursor, time: time) { [registry] in
                registry.isAlive(identifier) ? nil : DownloadError.sessionUnavailable(.notRunning(identifier))
            }
            return AsyncThrowingStream { try await reader.next() }
        }
    #endif
}
