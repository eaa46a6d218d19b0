import DownloadKit
import Foundation

/// The background session as a command finds it: by the lock and the socket in the state folder.
struct BackgroundSession: Sendable {
    /// From the lock to the socket, and for a session to come up.
    static let patience = Duration.seconds(15)
    private static let pace = Duration.milliseconds(20)

    let stateFolder: String
    let directory: any SessionDirectory
    var time: any TimeSource = SystemTime()

    static let identifier = SessionIdentifier.background

    /// Where it is served, and where a service manager listens in its place.
    static func socket(in stateFolder: String) -> String {
        FileNaming.path(FileNaming.path(stateFolder, "sessions"), "\(identifier).sock")
    }

    var socket: String { Self.socket(in: stateFolder) }

    var isAlive: Bool { directory.isAlive(Self.identifier) }

    /// Somebody accepts connections: the session, or a service manager that starts it now.
    var isListening: Bool { SocketProbe.isListening(socket) }

    /// The session, once it serves.
    /// - Parameter deadline: nil for as long as a session may take to come up.
    /// - Returns: nil when it does not live, or ended meanwhile.
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

    /// A session that has answered.
    struct Connected {
        let service: any DownloadService
        let status: SessionStatus
    }

    /// Waits until the lock is free and the process has ended.
    /// - Parameter limit: nil for as long as it takes.
    /// - Returns: false when it still lives.
    func waitForEnd(of process: ProcessWatch, within limit: Duration?) async throws -> Bool {
        let deadline = limit.map { time.now + $0 }
        while isAlive || !process.hasEnded {
            if let deadline, time.now > deadline { return false }
            try await time.sleep(for: Self.pace)
        }
        return true
    }
}

extension BackgroundSession {
    /// The one of this user's state folder, running or not.
    init(environment: [String: String], time: any TimeSource = SystemTime()) throws {
        stateFolder = try SessionConfiguration.stateFolder(environment: environment)
        directory = DownloadSession.sessions(stateFolder: stateFolder, time: time)
        self.time = time
    }
}
