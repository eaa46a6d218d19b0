import CSystem
import DownloadCore
import DownloadEngine
import Foundation
import Synchronization

/// The way to a background session. It connects to the process that runs the session, or starts the session.
struct BackgroundDoor {
    let identifier: String
    let directory: StoreSessions
    let configuration: SessionConfiguration

    /// The total time to wait until a previous session has ended, and until a new session has started.
    private static let patience = Duration.seconds(15)
    private static let pace = Duration.milliseconds(20)

    /// Returns the live session. If there is none, starts the host program. Without a host program, starts a session in
    /// this process.
    func service(orHere manager: () throws -> SessionManager) async throws -> any DownloadService {
        guard Self.isUsable(identifier) else {
            throw DownloadError.sessionUnavailable(.unusableIdentifier(identifier))
        }
        let time = configuration.time
        let deadline = time.now + Self.patience
        var process: HostProcess?
        while true {
            do {
                if directory.isAlive(identifier) { return try await directory.connect(to: identifier) }
                if let host = configuration.host {
                    if let process, let status = process.status { throw HostProcess.failure(host, status) }
                    process = try process ?? HostProcess(host)
                } else {
                    return try await begin(try manager())
                }
            } catch DownloadError.sessionUnavailable(let failure) where isPassing(failure) && time.now < deadline {
                // The session's predecessor is about to end, or another process has started the session first.
            }
            guard time.now < deadline else {
                throw DownloadError.sessionUnavailable(.notAnswering(identifier, message: "it did not start in time"))
            }
            try await time.sleep(for: Self.pace)
        }
    }

    private func begin(_ manager: SessionManager) async throws -> SessionManager {
        do { try await manager.start() } catch {
            await manager.close()
            throw error
        }
        return manager
    }

    private func isPassing(_ failure: SessionFailure) -> Bool {
        [.notRunning(identifier), .shuttingDown, .alreadyRunning(identifier)].contains(failure)
    }

    /// Returns whether an identifier is usable as the name of files in `sessions/`.
    static func isUsable(_ identifier: String) -> Bool {
        !identifier.isEmpty && identifier.utf8.count <= 60 && !identifier.hasPrefix(".")
            && !SessionIdentifier.isForeground(identifier) && !identifier.utf8.contains { $0 < 0x20 || $0 == 0x2F }
    }
}

/// The process that was started to run a background session. It has no terminal, and runs in a new POSIX session
/// (setsid(2)).
private final class HostProcess: Sendable {
    private let ending = Mutex<Int32?>(nil)

    /// The status of the process from waitpid(2); nil while the process lives.
    var status: Int32? { ending.withLock(\.self) }

    init(_ host: BackgroundHost) throws(DownloadError) {
        let output = open("/dev/null", O_RDWR | O_CLOEXEC)
        guard output >= 0 else { throw .sessionUnavailable(.startFailed(message: "/dev/null cannot be opened")) }
        defer { close(output) }
        var pid: pid_t = 0
        let environment = ProcessInfo.processInfo.environment.merging(host.environment) { _, new in new }
        let settings = environment.map { "\($0.key)=\($0.value)" }
        let error = Self.withCStrings([host.executable] + host.arguments) { arguments in
            Self.withCStrings(settings) { environment in
                dlm_spawn_detached(host.executable, arguments, environment, output, output, &pid)
            }
        }
        guard error == 0 else {
            let why = String(cString: strerror(error))
            throw .sessionUnavailable(.startFailed(message: "cannot start \(host.executable): \(why)"))
        }
        let child = pid
        // A thread waits for the process, so that it leaves no zombie if this process lives longer.
        Thread.detachNewThread { [self] in
            var status: Int32 = 0
            while waitpid(child, &status, 0) < 0, errno == EINTR {}
            ending.withLock { $0 = status }
        }
    }

    static func failure(_ host: BackgroundHost, _ status: Int32) -> DownloadError {
        let signal = status & 0x7F
        let how = signal == 0 ? "ended with status \((status >> 8) & 0xFF)" : "was ended by signal \(signal)"
        return .sessionUnavailable(.startFailed(message: "\(host.executable) \(how)"))
    }

    private static func withCStrings<Result>(
        _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let copies = texts.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        return body(copies + [nil])
    }
}
