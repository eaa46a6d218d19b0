import DownloadCore
import DownloadSystem

/// A background session as other processes see it: through its lock and its socket in the state folder.
package struct BackgroundSession: Sendable {
    package let stateFolder: String
    let identifier: String
    package let directory: any SessionDirectory
    package let time: any TimeSource
    /// The longest wait for a session that is starting or ending.
    package var patience = Self.patience

    private static let patience = Duration.seconds(15)
    package static let pace = Duration.milliseconds(20)

    package init(
        stateFolder: String, identifier: String = SessionIdentifier.background, directory: any SessionDirectory,
        time: any TimeSource = SystemTime()
    ) {
        self.stateFolder = stateFolder
        self.identifier = identifier
        self.directory = directory
        self.time = time
    }

    /// Creates the value for the background session of `dlm`. The caller closes the directory.
    package init(environment: [String: String], time: any TimeSource) throws(DownloadError) {
        let folder = try SessionConfiguration.stateFolder(environment: environment)
        self.init(
            stateFolder: folder, directory: DownloadSession.sessions(stateFolder: folder, time: time), time: time)
    }

    /// The path of the socket on which the session serves, or on which a service manager listens in its place.
    package var socket: String { Self.socket(of: identifier, in: stateFolder) }

    package static func socket(of identifier: String = SessionIdentifier.background, in stateFolder: String) -> String {
        SessionLocation(stateFolder: stateFolder, identifier: identifier).socketPath
    }

    package var isAlive: Bool { directory.isAlive(identifier) }

    /// Connects to the session, and waits while the session is starting or ending.
    /// - Parameters:
    ///   - deadline: The end of the wait; by default ``patience`` from now.
    ///   - wakes: Whether a service manager that listens in place of the session is asked to start the session.
    ///   - use: Uses the connection, and is called again if the session ended meanwhile.
    /// - Returns: The result of `use`; nil if the session is not running, or ended meanwhile.
    package func connect<Result>(
        until deadline: ContinuousClock.Instant? = nil, wakes: Bool = false,
        _ use: (any DownloadService) async throws -> Result
    ) async throws -> Result? {
        let deadline = deadline ?? time.now + patience
        while true {
            let wasAlive = isAlive
            guard wasAlive || wakes else { return nil }
            do {
                return try await use(try await directory.connect(to: identifier))
            } catch DownloadError.sessionUnavailable(let failure) {
                if case .notRunning = failure, !wasAlive { return nil }
                let isNowAlive = isAlive
                // Otherwise the session is starting or ending, or a service manager has not started it yet.
                if (wasAlive && isNowAlive && !failure.isEnd) || time.now >= deadline {
                    guard wasAlive || isNowAlive else {
                        throw DownloadError.sessionUnavailable(
                            .startFailed(message: "another program listens at \(socket) and no session answers there"))
                    }
                    throw DownloadError.sessionUnavailable(failure)
                }
            }
            try await time.sleep(for: Self.pace)
        }
    }

    /// Connects to the session, or starts it if it is not running.
    /// - Parameters:
    ///   - wakes: As for ``connect(until:wakes:_:)``.
    ///   - start: Starts the session before the deadline, and returns the result if the session runs in this process.
    ///     It is called again as long as the session is not alive.
    package func open<Result>(
        wakes: Bool, _ use: (any DownloadService) async throws -> Result,
        orStart start: (_ deadline: ContinuousClock.Instant) async throws -> Result?
    ) async throws -> Result {
        let deadline = time.now + patience
        repeat {
            if let result = try await connect(until: deadline, wakes: wakes, use) { return result }
            guard time.now < deadline else { break }
            do {
                if let result = try await start(deadline) { return result }
            } catch DownloadError.sessionUnavailable(.alreadyRunning) {
                // Another process has started the session first.
            }
            if !isAlive { try await time.sleep(for: Self.pace) }
        } while time.now < deadline
        throw DownloadError.sessionUnavailable(.notAnswering(identifier, message: "it did not start in time"))
    }
}
