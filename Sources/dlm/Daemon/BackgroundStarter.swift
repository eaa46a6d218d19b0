import DownloadKit
import Glibc

/// The starter of the background session: exactly one session starts, however many processes ask for it at once.
struct BackgroundStarter: Sendable {
    let session: BackgroundSession
    let environment: [String: String]
    /// The options for `dlm daemon run`.
    var arguments: [String] = []
    var patience = BackgroundSession.patience

    /// Makes sure that the background session serves, as `dlm get -b` needs. ``DownloadSession/open`` calls this
    /// method.
    static func ensureRunning(environment: [String: String], time: any TimeSource) async throws {
        let session = try BackgroundSession(environment: environment, time: time)
        defer { session.directory.close() }
        _ = try await BackgroundStarter(session: session, environment: environment).start()
    }

    /// Returns the session that serves now. `isNew` is false if another process started the session before or
    /// meanwhile.
    func start() async throws -> (connected: BackgroundSession.Connected, isNew: Bool) {
        let time = session.time
        let deadline = time.now + patience
        while time.now < deadline {
            if let connected = try await existing(until: deadline) { return (connected, false) }
            let process = try DaemonProcess(options: arguments, environment: environment, log: logFile)
            switch try await process.readiness(within: deadline - time.now, time) {
            case .ready:
                guard let connected = try await session.connect(until: deadline) else { break }
                return (connected, true)
            // Another session has the lock. If that session is ending, its lock is free soon, and the loop starts a new
            // one.
            case .running: break
            case .failed(let error): throw error
            }
        }
        throw DownloadError.sessionUnavailable(
            .startFailed(message: "nothing serves at \(session.socket); see \(logFile.path)"))
    }

    /// Returns the session that is running, or the one that a service manager starts because of a connection.
    private func existing(until deadline: ContinuousClock.Instant) async throws -> BackgroundSession.Connected? {
        if !session.isAlive {
            guard session.isListening else { return nil }
            while !session.isAlive {
                guard session.time.now < deadline else {
                    throw DownloadError.sessionUnavailable(
                        .startFailed(
                            message: "another program listens at \(session.socket) and no session answers there"))
                }
                try await session.time.sleep(for: .milliseconds(20))
            }
        }
        return try await session.connect(until: deadline)
    }

    private var logFile: DaemonLogFile { DaemonLogFile(stateFolder: session.stateFolder) }
}
