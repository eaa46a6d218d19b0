import DownloadCore
import DownloadEngine
import DownloadStorage
import DownloadSystem
import Foundation
import Synchronization

/// A session of downloads: the counterpart of `URLSession` and of Alamofire's `Session`.
///
/// A session lives until it is ended by ``finishAndInvalidate()``, ``invalidateAndCancel()`` or ``close()``, or until
/// the last reference to it and to its tasks is gone. It is then closed: running downloads are paused, with their
/// resume data on disk.
public final class DownloadSession: Sendable {
    /// The configuration with which the session was opened.
    public let configuration: SessionConfiguration
    /// The name of this session for other sessions.
    public let identifier: String
    /// The session in this process; nil if another process runs it.
    let local: SessionManager?
    let directory: StoreSessions
    /// The observer of the session's downloads, in whichever process the session runs.
    let observer: TaskObserver
    /// The adapter for a session that runs in another process, which cannot call the adapter itself.
    let adapter: (any RequestAdapter)?
    private let monitoring: [Task<Void, Never>]
    private let state = Mutex(State())

    private struct State {
        var isEnding = false
        /// The observers of sessions of other processes whose downloads were joined.
        var joined: [String: TaskObserver] = [:]
    }

    /// Opens a session. A background session that runs already, in this process or another one, is joined.
    /// - Parameters:
    ///   - configuration: The configuration of the session.
    ///   - adapter: Changes each request before it is sent.
    ///   - retrier: Decides whether another attempt follows a failed attempt.
    ///   - monitors: Receive every event of the session.
    ///   - transport: Used in place of the network by a session that runs in this process; nil for the network.
    /// - Throws: ``DownloadError`` if the store cannot be opened, or if the background session cannot be reached.
    public convenience init(
        configuration: SessionConfiguration = .default, adapter: (any RequestAdapter)? = nil,
        retrier: (any RequestRetrier)? = nil, monitors: [any EventMonitor] = [], transport: SessionTransport? = nil
    ) async throws {
        try await self.init(
            configuration, adapter: adapter, retrier: retrier, monitors: monitors, transport: transport,
            network: transport == nil ? KernelNetwork() : SteadyNetwork())
    }

    package init(
        _ configuration: SessionConfiguration, adapter: (any RequestAdapter)? = nil,
        retrier: (any RequestRetrier)? = nil, monitors: [any EventMonitor] = [], transport: SessionTransport? = nil,
        network: any LocalNetwork
    ) async throws {
        if configuration.kind.isRecorded, configuration.stateFolder.isEmpty {
            throw DownloadError.sessionUnavailable(.noHome)
        }
        self.configuration = configuration
        self.adapter = adapter
        let registry = SessionRegistry(stateFolder: configuration.stateFolder, time: configuration.time)
        directory = StoreSessions(
            registry, configuration.stateFolder, startBackground: nil, time: configuration.time)
        let assembly = SessionAssembly(
            configuration: configuration, registry: registry, substitute: transport, adapter: adapter,
            retrier: retrier, network: network)
        let (service, identifier) = try await Self.service(assembly, directory)
        self.identifier = identifier
        local = service as? SessionManager
        observer = await TaskObserver(service, configuration.time)
        monitoring = await Self.monitor(service, identifier, monitors)
        if let local { Self.obey(local) }
    }

    deinit {
        if beginEnd() { Task { [end] in await end.close() } }
    }

    private static func service(
        _ assembly: SessionAssembly, _ directory: StoreSessions
    ) async throws -> (any DownloadService, identifier: String) {
        #if BackgroundSessions
            if case .background(let identifier) = assembly.configuration.kind {
                return (try await background(identifier, directory, assembly), identifier)
            }
        #endif
        let manager = try assembly.manager()
        return (manager, manager.identifier)
    }

    // MARK: Tasks that live as long as the session

    static func monitor(
        _ service: any DownloadService, _ identifier: String, _ monitors: [any EventMonitor]
    ) async -> [Task<Void, Never>] {
        var tasks: [Task<Void, Never>] = []
        for monitor in monitors {
            let events = await service.events()
            tasks.append(Task { for await event in events { await monitor.session(identifier, didSend: event) } })
        }
        return tasks
    }

    /// Ends the session in this process when another process requests its end.
    static func obey(_ manager: SessionManager) {
        Task {
            for await mode in manager.shutdownRequests {
                if mode == .finish { await manager.finish() }
                await manager.pauseAll(.terminate)
                await manager.close()
            }
        }
    }

    var service: any DownloadService { observer.service }

    /// Returns the observer of a session in another process whose download was joined.
    func observer(of session: String) async throws -> TaskObserver {
        if let known = state.withLock({ $0.joined[session] }) { return known }
        let new = await TaskObserver(try await directory.connect(to: session), configuration.time)
        return state.withLock { state in
            if let known = state.joined[session] { return known }
            state.joined[session] = new
            return new
        }
    }

    // MARK: The end

    /// Waits until every download of the session has ended, and then ends the session. Paused downloads stay paused. A
    /// background session in another process is also asked to end.
    public func finishAndInvalidate() async throws {
        guard beginEnd() else { return }
        let streams = try await snapshots([.queued, .running, .waiting]).map { ($0.id, observer.events(of: $0.id)) }
        // Downloads that have ended between the two calls of `snapshots` send no more events.
        let left = Set(try await snapshots([.queued, .running, .waiting]).map(\.id))
        for (id, events) in streams where left.contains(id) {
            for await event in events where event.kind.endsWait { break }
        }
        if local == nil { try await service.shutdown(.finish) }
        await end.close()
    }

    /// Cancels every download of the session, and then ends the session. The resume data of the downloads is saved. A
    /// background session in another process is also asked to end.
    public func invalidateAndCancel() async throws {
        guard beginEnd() else { return }
        let ids = try await snapshots([.queued, .running, .waiting, .paused]).map(\.id)
        if !ids.isEmpty { _ = try await service.cancel(ids) }
        if local == nil { try await service.shutdown(.pause) }
        await end.close()
    }

    /// Closes the session. Downloads that run in this process are paused, and their resume data is saved. They continue
    /// when they are requested again. A background session in another process continues to run.
    public func close() async {
        guard beginEnd() else { return }
        await end.close()
    }

    func requireOpen() throws(DownloadError) {
        if state.withLock(\.isEnding) { throw .sessionUnavailable(.shuttingDown) }
    }

    /// Begins the end of the session, after which it accepts no more downloads.
    /// - Returns: False if the session was ending already.
    private func beginEnd() -> Bool {
        state.withLock { state in
            defer { state.isEnding = true }
            return !state.isEnding
        }
    }

    private var end: SessionEnd {
        SessionEnd(
            local: local, observer: observer, directory: directory, joined: Array(state.withLock(\.joined).values),
            monitoring: monitoring)
    }
}
