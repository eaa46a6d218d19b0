import DownloadKit
import Foundation

/// The background session as a command sees it: through the lock and the socket in the state folder.
struct BackgroundSession: Sendable {
    /// The longest wait for a new session to start, or for a session that has its lock to open its socket.
    static let patience = Duration.seconds(15)
    private static let pace = Duration.milliseconds(20)

    let stateFolder: String
    let directory: any SessionDirectory
    var time: any TimeSource = SystemTime()

    static let identifier = SessionIdentifier.background

    /// Returns the path of the socket on which the session serves, or on which a service manager listens in its place.
    static func socket(in stateFolder: String) -> String {
        FileNaming.path(FileNaming.path(stateFolder, "sessions"), "\(identifier).sock")
    }

    var socket: String { Self.socket(in: stateFolder) }

    var isAlive: Bool { directory.isAlive(Self.identifier) }

    /// Whether connections to the socket are accepted, by the session or by a service manager that starts the session
    /// now.
    var isListening: Bool { SocketProbe.isListening(socket) }

    /// Waits until the session serves, and connects to it.
    /// - Parameter deadline: the end of the wait; by default ``patience`` from now.
    /// - Returns: nil if the session is not running, or ended meanwhile.
    func connect(until deadline: ContinuousClock.Instant? = nil) async throws -> Connected? {
        let deadline = deadline ?? time.now + Self.patience
        var last: DownloadError?
        repeat {
            guard isAlive else { return nil }
            if isListening {
                do {
                    let service = try await directory.connect(to: Self.identifier)
                    return Connected(service: service, status: try await service.status())
                } catch DownloadError.sessionUnavailable(let failure)
                    where failure == .notRunning(Self.identifier) || failure == .shuttingDown
                {
                    last = .sessionUnavailable(failure)
                } catch let error as DownloadError where !isAlive {
                    last = error
                }
            }
            try await time.sleep(for: Self.pace)
        } while time.now < deadline
        throw last ?? .sessionUnavailable(.notAnswering(Self.identifier, message: "it does not listen at \(socket)"))
    }

    /// The connection to a session that has answered, and its answer.
    struct Connected {
        let service: any DownloadService
        let status: SessionStatus
    }

    /// Waits until the process of a session has ended. Its lock is free then, or belongs to the next session already. If
    /// the process cannot be watched, waits until the lock is free.
    /// - Parameter limit: the longest wait; nil for no limit.
    /// - Returns: false if the session still runs after the limit.
    func waitForEnd(of process: ProcessWatch, within limit: Duration?) async throws -> Bool {
        let deadline = limit.map { time.now + $0 }
        while !(process.hasEnded ?? !isAlive) {
            if let deadline, time.now > deadline { return false }
            try await time.sleep(for: Self.pace)
        }
        return true
    }
}

extension BackgroundSession {
    /// Creates the value for this user's state folder, whether or not the session is running.
    init(environment: [String: String], time: any TimeSource = SystemTime()) throws {
        stateFolder = try SessionConfiguration.stateFolder(environment: environment)
        directory = DownloadSession.sessions(stateFolder: stateFolder, time: time)
        self.time = time
    }
}
