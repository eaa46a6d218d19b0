import CurlTransport
import DownloadControl
import DownloadCore
import DownloadStorage
import Foundation

/// The interface for the `dlm` program and its commands: the services behind a session, without handles on downloads.
extension DownloadSession {
    /// The version of the library and of the program, as in the user agent.
    package static let version = "0.1.0"

    /// Opens the downloads of a store, with a session of this process for the downloads that run here. Threads, the
    /// session's lock and its socket are created when the first download needs them.
    /// - Parameters:
    ///   - environment: names the certificate authorities to trust and the home folder.
    ///   - startBackground: starts the background session, and returns when the session answers.
    ///   - hooks: runs the programs of downloads that have ended. Without a runner, the programs wait for another
    ///     session.
    ///   - notice: reports a problem that no caller is waiting to hear about, as text for the user.
    /// - Throws: ``DownloadError`` if the store cannot be opened.
    package static func open(
        _ configuration: SessionConfiguration,
        environment: [String: String] = ProcessInfo.processInfo.environment,
        startBackground: (@Sendable () async throws -> Void)? = nil,
        hooks: (any HookRunner)? = nil, notice: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws -> DownloadRouter {
        try await open(
            configuration, environment: environment, startBackground: startBackground, hooks: hooks, notice: notice,
            transport: { $0 })
    }

    /// - Parameter transport: is given the libcurl transport, and returns the transport to use instead.
    package static func open(
        _ configuration: SessionConfiguration, environment: [String: String],
        startBackground: (@Sendable () async throws -> Void)? = nil, hooks: (any HookRunner)?,
        notice: @escaping @Sendable (String) -> Void, transport: @escaping @Sendable (any Transport) -> any Transport
    ) async throws -> DownloadRouter {
        let registry = SessionRegistry(stateFolder: configuration.stateFolder, time: configuration.time)
        let manager = try manager(configuration, registry, environment, listener: nil, hooks, notice, transport)
        Task {
            for await mode in manager.shutdownRequests {
                if mode == .finish { await manager.finish() }
                await manager.pauseAll(.terminate)
                await manager.close()
            }
        }
        return DownloadRouter(
            local: manager,
            directory: StoreSessions(
                registry, configuration.stateFolder, startBackground: startBackground, time: configuration.time))
    }

    /// Starts to load libcurl on a thread of its own, for a program that is going to download at once.
    package static func prepareTransfers() { CurlTransport.prepare() }

    /// Opens the background session, which continues where its predecessor stopped. The caller must obey the
    /// session's ``SessionManager/shutdownRequests``.
    /// - Parameter listener: a listening socket that another process created (sd_listen_fds(3)).
    /// - Throws: ``DownloadError/sessionUnavailable(_:)`` if a background session runs already.
    package static func openBackground(
        _ configuration: SessionConfiguration, listener: Int32? = nil, hooks: (any HookRunner)? = nil,
        notice: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws -> SessionManager {
        let registry = SessionRegistry(stateFolder: configuration.stateFolder, time: configuration.time)
        let environment = ProcessInfo.processInfo.environment
        let manager = try manager(configuration, registry, environment, listener: listener, hooks, notice)
        do {
            try await manager.start()
        } catch {
            await manager.close()
            throw error
        }
        return manager
    }

    /// Returns the sessions of a store, without opening the store: the live sessions and connections to them.
    package static func sessions(stateFolder: String) -> any SessionDirectory {
        sessions(stateFolder: stateFolder, time: SystemTime())
    }

    package static func sessions(stateFolder: String, time: any TimeSource) -> any SessionDirectory {
        let registry = SessionRegistry(stateFolder: stateFolder, time: time)
        return StoreSessions(registry, stateFolder, startBackground: nil, time: time)
    }

    /// Fetches a small document into memory. Neither the download nor what servers report about themselves is
    /// recorded.
    /// - Parameters:
    ///   - largest: the largest size in bytes; a larger document is an error.
    ///   - environment: names the certificate authorities to trust and the home folder.
    /// - Throws: ``DownloadError``.
    package static func document(
        _ request: DownloadRequest, largest: Int,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) async throws -> [UInt8] {
        try await document(request, largest: largest, environment: environment, time: SystemTime())
    }

    package static func document(
        _ request: DownloadRequest, largest: Int, environment: [String: String], time: any TimeSource
    ) async throws -> [UInt8] {
        let transport = try CurlTransport(environment: environment)
        defer { transport.shutdown() }
        let fetch = DocumentFetch(
            request, over: transport, userAgent: "dlm/\(version)", largest: largest,
            strictHosts: strictHosts(environment, time), time: time)
        return try await fetch.run()
    }

    /// Returns the hosts that want only https (HSTS), which recorded sessions have learned.
    static func strictHosts(_ environment: [String: String], _ time: any TimeSource) -> HSTSStore? {
        HSTSStore.path(in: environment).map { HSTSStore(path: $0, time: time) }
    }

    static func manager(
        _ configuration: SessionConfiguration, _ registry: SessionRegistry, _ environment: [String: String],
        listener: Int32?, _ hooks: (any HookRunner)?, _ notice: @escaping @Sendable (String) -> Void,
        _ transport: @escaping @Sendable (any Transport) -> any Transport = { $0 },
        adapter: (any RequestAdapter)? = nil, retrier: (any RequestRetrier)? = nil,
        network: any LocalNetwork = KernelNetwork()
    ) throws -> SessionManager {
        let identifier = identifier(of: configuration.kind)
        let (isRecorded, time) = (configuration.kind.isRecorded, configuration.time)
        let stream: StreamOutput? =
            if case .stream(let descriptor) = configuration.kind { StreamOutput(descriptor: descriptor) } else { nil }
        let store: any DownloadStore =
            isRecorded
            ? try SQLiteDownloadStore(folder: configuration.stateFolder, isAlive: registry.isAlive, time: time)
            : InMemoryDownloadStore(time: time)
        let location = SessionLocation(stateFolder: configuration.stateFolder, identifier: identifier)
        let parts = SessionParts(
            store: store, identifier: identifier, version: version,
            start: {
                if isRecorded, try !registry.register(identifier) {
                    throw DownloadError.sessionUnavailable(.alreadyRunning(identifier))
                }
                return transport(try CurlTransport(environment: environment))
            },
            end: { if isRecorded { registry.unregister(identifier) } },
            serve: { service in
                guard isRecorded else { return {} }
                let server = try await ControlServer.start(service, at: location, listener: listener, time: time)
                return { await server.stop() }
            },
            isAlive: registry.isAlive, notice: notice, hooks: hooks, keepsUnfinished: isRecorded, stream: stream,
            network: network, strictHosts: isRecorded ? strictHosts(environment, time) : nil, adapter: adapter,
            retrier: retrier, time: time)
        return SessionManager(
            parts: parts, maxConcurrent: configuration.maxConcurrent, maxPerHost: configuration.maxPerHost,
            hostLimits: configuration.hostLimits,
            rateLimit: configuration.rateLimit, timetable: configuration.timetable, historyAge: configuration.historyAge
        )
    }

    /// Returns the identifier of a session. A foreground session is never looked up by its name, so the process id
    /// and a random part make the name unique.
    static func identifier(of kind: SessionConfiguration.Kind) -> String {
        switch kind {
        case .foreground, .ephemeral, .stream:
            "foreground-\(getpid())-\(String(UInt32.random(in: 0...UInt32.max), radix: 36))"
        case .background(let identifier): identifier
        }
    }
}
