import CurlTransport
import DownloadCore
import DownloadEngine
import DownloadStorage
import DownloadSystem
import Foundation

/// The interface for the `dlm` program and its commands: the services behind a session, without handles on downloads.
extension DownloadSession {
    /// The version of the library and of the program, as in the user agent.
    package static let version = "0.1.0"

    /// Opens the downloads of a store, with a session of this process for the downloads that run here. Threads, the
    /// session's lock and its socket are created when the first download needs them.
    /// - Parameters:
    ///   - environment: names the certificate authorities to trust and the home folder.
    ///   - startBackground: starts the background session before the deadline, and returns when the session serves.
    ///     Throws `alreadyRunning` if another process was faster.
    ///   - hooks: runs the programs of downloads that have ended. Without a runner, the programs wait for another
    ///     session.
    ///   - notice: reports a problem that no caller is waiting to hear about, as text for the user.
    ///   - transport: is given the libcurl transport, and returns the transport to use instead.
    /// - Throws: ``DownloadError`` if the store cannot be opened.
    package static func open(
        _ configuration: SessionConfiguration,
        environment: [String: String] = ProcessInfo.processInfo.environment,
        startBackground: (@Sendable (_ deadline: ContinuousClock.Instant) async throws -> Void)? = nil,
        hooks: (any HookRunner)? = nil, notice: @escaping @Sendable (String) -> Void = { _ in },
        transport: @escaping @Sendable (any Transport) -> any Transport = { $0 }
    ) async throws -> DownloadRouter {
        let registry = SessionRegistry(stateFolder: configuration.stateFolder, time: configuration.time)
        let manager = try SessionAssembly(
            configuration: configuration, registry: registry, environment: environment, hooks: hooks, notice: notice,
            transport: transport
        ).manager()
        obey(manager)
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
        return try await SessionAssembly(
            configuration: configuration, registry: registry, listener: listener, hooks: hooks, notice: notice
        ).startedManager()
    }

    /// Returns the sessions of a store, without opening the store: the live sessions and connections to them.
    package static func sessions(
        stateFolder: String, time: any TimeSource = SystemTime()
    ) -> any SessionDirectory {
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
        environment: [String: String] = ProcessInfo.processInfo.environment, time: any TimeSource = SystemTime()
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

    // MARK: For `dlm doctor` and `dlm verify`: without a store and a session

    /// Returns the features of this machine's libcurl.
    /// - Throws: ``DownloadError`` if libcurl cannot be loaded.
    package static func transportFeatures(environment: [String: String]) throws(DownloadError) -> TransportFeatures {
        try CurlTransport.features(environment: environment)
    }

    /// Checks a store, if there is one. The check of a large store takes a few seconds.
    package static func storeHealth(stateFolder: String, time: any TimeSource = SystemTime()) -> StoreHealth {
        StoreCheck.health(ofStoreIn: stateFolder, time)
    }

    /// Returns what earlier downloads have learned about the origin of a host, or about the URL of a folder.
    package static func knowledge<Knowledge: ServerKnowledge>(of place: String, stateFolder: String) -> Knowledge? {
        StoreCheck.knowledge(of: place, inStoreIn: stateFolder)
    }

    /// Returns the sessions, live and dead, that have a socket or a lock file in a state folder; sorted.
    package static func sessionTraces(stateFolder: String) -> [SessionTrace] {
        SessionRegistry(stateFolder: stateFolder).traces()
    }

    /// Requests the first byte of a URL, and returns everything that was learned from the answer.
    /// - Parameter environment: Names the certificate authorities to trust and the home folder.
    /// - Throws: ``DownloadError`` if libcurl cannot be loaded.
    package static func probe(
        _ request: DownloadRequest, environment: [String: String] = ProcessInfo.processInfo.environment,
        time: any TimeSource = SystemTime()
    ) async throws -> ProbedRequest {
        let transport = try CurlTransport(environment: environment)
        defer { transport.shutdown() }
        return await ProbedRequest(
            probing: request, over: transport, userAgent: "dlm/\(version)", strictHosts: strictHosts(environment, time),
            time: time)
    }
}
