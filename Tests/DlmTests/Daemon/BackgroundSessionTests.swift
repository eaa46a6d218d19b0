import DownloadCore
import DownloadTestSupport
import Foundation
import Synchronization
import Testing

@testable import dlm

/// A directory whose background session gives the scripted answers, one after the other.
final class ScriptedDirectory: SessionDirectory {
    let answers: Mutex<[DownloadError?]>
    let hasLock = Mutex(true)

    /// Whether every answer was used.
    var isThrough: Bool { answers.withLock { $0.isEmpty } }

    init(_ answers: [DownloadError?]) { self.answers = Mutex(answers) }

    func isAlive(_ identifier: String) -> Bool { hasLock.withLock { $0 } }
    func liveSessions() -> [String] { [] }
    func startBackground() async throws -> any DownloadService { throw DownloadError.cancelled }
    func close() {}

    func connect(to identifier: String) async throws -> any DownloadService {
        let answer = answers.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        if answers.withLock(\.isEmpty), answer != nil { hasLock.withLock { $0 = false } }
        if let answer { throw answer }
        return FakeService()
    }
}

@Suite("The connection of a command to the background session", .inTurn, .serialized, .timeLimit(.minutes(1)))
struct BackgroundSessionTests {
    /// Runs a test with a socket, which accepts connections only if `isListening` is true.
    func withSession(
        _ answers: [DownloadError?], isListening: Bool = true,
        _ body: (BackgroundSession, ScriptedDirectory) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        try FileManager.default.createDirectory(atPath: folder("sessions"), withIntermediateDirectories: true)
        let socket = try UnixSocket(.stream, at: folder("sessions/background.sock"))
        if isListening { try socket.startListening() }
        let directory = ScriptedDirectory(answers)
        try await body(BackgroundSession(stateFolder: folder.path, directory: directory), directory)
    }

    static let ending = DownloadError.sessionUnavailable(.shuttingDown)
    static let gone = DownloadError.sessionUnavailable(.notRunning("background"))
    static let silent = DownloadError.sessionUnavailable(.notAnswering("background", message: "x"))

    @Test("connect waits for the end of a session that is ending")
    func ending() async throws {
        try await withSession([Self.ending, Self.ending, Self.gone, Self.ending]) { (session, directory) async throws in
            let connected = try await session.connect(until: .now + .seconds(50))
            #expect(connected == nil)
            #expect(directory.isThrough)
        }
    }

    @Test("connect waits for a session that is starting")
    func coming() async throws {
        try await withSession([Self.gone, nil]) { (session, _) async throws in
            let connected = try await session.connect(until: .now + .seconds(50))
            #expect(connected?.status.identifier == "here")
        }
    }

    @Test("A session that does not answer is reported at once")
    func silent() async throws {
        try await withSession([Self.silent, nil]) { session, _ in
            await #expect(throws: Self.silent) { try await session.connect() }
        }
    }

    @Test("A session that has its lock and never listens is reported in time")
    func deaf() async throws {
        try await withSession([], isListening: false) { session, _ in
            let error = await #expect(throws: DownloadError.self) {
                try await session.connect(until: .now + .milliseconds(100))
            }
            #expect(error?.exitStatus == 12)
        }
    }

    @Test("The end of a session is noticed even if the next session has the lock by then")
    func succeeded() async throws {
        try await withSession([]) { session, _ in
            let process = try ChildProcess(ProcessLaunch("/bin/sleep", ["100"]))
            let watch = ProcessWatch(process.pid)
            #expect(try await !session.waitForEnd(of: watch, within: .zero))
            process.send(SIGKILL)
            #expect(try await session.waitForEnd(of: watch, within: .seconds(50)))
            #expect(session.isAlive)
        }
    }

    @Test("A listener without a session is reported in time, and no second session is started")
    func nobody() async throws {
        try await withSession([]) { session, directory in
            directory.hasLock.withLock { $0 = false }
            let starter = BackgroundStarter(session: session, environment: [:], patience: .milliseconds(100))
            let error = await #expect(throws: DownloadError.self) { try await starter.start() }
            #expect(error?.description.contains("no session answers") == true)
            #expect(!FileManager.default.fileExists(atPath: session.stateFolder + "/daemon.log"))
        }
    }
}
