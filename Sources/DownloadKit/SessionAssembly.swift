import CurlTransport
import DownloadCore
import DownloadEngine
import DownloadStorage
import DownloadSystem
import Foundation

#if BackgroundSessions
    import DownloadControl
#endif

/// The parts from which the session manager of this process is made.
struct SessionAssembly {
    let configuration: SessionConfiguration
    let registry: SessionRegistry
    /// The environment variables, which name the trusted certificate authorities and the home folder.
    var environment = ProcessInfo.processInfo.environment
    /// A listening socket that another process created (sd_listen_fds(3)).
    var listener: Int32?
    /// Runs the programs of downloads that have ended; nil to leave the programs to another session.
    var hooks: (any HookRunner)?
    /// Reports a problem that no caller is waiting to hear about, as text for the user.
    var notice: @Sendable (String) -> Void = { _ in }
    /// Returns the transport to use instead of the libcurl transport, which is passed to the closure.
    var transport: @Sendable (any Transport) -> any Transport = { $0 }
    /// The transport of a program's tests, which need no libcurl.
    var substitute: SessionTransport?
    var adapter: (any RequestAdapter)?
    var retrier: (any RequestRetrier)?
    var network: any LocalNetwork = KernelNetwork()

    func manager() throws -> SessionManager {
        let identifier = Self.identifier(of: configuration.kind)
        let (isRecorded, time) = (configuration.kind.isRecorded, configuration.time)
        let stream: StreamOutput? =
            if case .stream(let descriptor, let spool) = configuration.kind {
                StreamOutput(
                    descriptor: descriptor, spool: spool ?? StreamOutput.standardSpool,
                    folders: [environment["TMPDIR"] ?? "/var/tmp"])
            } else {
                nil
            }
        // An unrecorded session has no lock that shows that it is alive, but only its own process has its store.
        let store = try SQLiteDownloadStore(
            folder: isRecorded ? configuration.stateFolder : nil,
            isAlive: { [registry] session in !isRecorded || registry.isAlive(session) }, time: time, notice: notice)
        let resources = SessionResources(
            start: { [registry, transport, substitute, environment] in
                if isRecorded, try !registry.register(identifier) {
                    throw DownloadError.sessionUnavailable(.alreadyRunning(identifier))
                }
                return try substitute?.make() ?? transport(CurlTransport(environment: environment))
            },
            end: { [registry] in if isRecorded { registry.unregister(identifier) } },
            serve: { [configuration, listener] service in
                #if BackgroundSessions
                    if isRecorded {
                        let location = SessionLocation(
                            stateFolder: configuration.stateFolder, identifier: identifier)
                        let server = try await ControlServer.start(
                            service, at: location, listener: listener, time: time)
                        return { await server.stop() }
                    }
                #endif
                return {}
            })
        var parts = SessionParts(
            store: store, identifier: identifier, version: DownloadSession.version, resources: resources)
        parts.isAlive = registry.isAlive
        parts.keepsUnfinished = isRecorded
        parts.strictHosts = isRecorded ? DownloadSession.strictHosts(environment, time) : nil
        (parts.notice, parts.hooks, parts.stream, parts.network) = (notice, hooks, stream, network)
        (parts.adapter, parts.retrier, parts.time) = (adapter, retrier, time)
        return SessionManager(
            parts: parts, maxConcurrent: configuration.maxConcurrent, maxPerHost: configuration.maxPerHost,
            hostLimits: configuration.hostLimits,
            rateLimit: configuration.rateLimit, timetable: configuration.timetable, historyAge: configuration.historyAge
        )
    }

    /// Starts a background session in this process.
    func startedManager() async throws -> SessionManager {
        let manager = try manager()
        do { try await manager.start() } catch {
            await manager.close()
            throw error
        }
        return manager
    }

    /// Returns the identifier of a session. The process id and a random part make the identifier of a foreground
    /// session unique.
    static func identifier(of kind: SessionConfiguration.Kind) -> String {
        switch kind {
        case .foreground, .ephemeral, .stream:
            "foreground-\(getpid())-\(String(UInt32.random(in: 0...UInt32.max), radix: 36))"
        case .background(let identifier): identifier
        }
    }
}
