import DownloadKit
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
    func withSession(
        _ answers: [DownloadError?], patience: Duration = .seconds(50),
        _ body: (BackgroundSession, ScriptedDirectory) async throws -> Void
    ) async throws {
        let directory = ScriptedDirectory(answers)
        var session = BackgroundSession(stateFolder: "/nowhere", directory: directory)
        session.patience = patience
        try await body(session, directory)
    }

    static let ending = DownloadError.sessionUnavailable(.shuttingDown)
    static let gone = DownloadError.sessionUnavailable(.notRunning("background"))
    static let silent = DownloadError.sessionUnavailable(.notAnswering("background", message: "x"))

    @Test("connect waits for the end of a session that is ending")
    func ending() async throws {
        try await withSession([Self.ending, Self.ending, Self.gone, Self.ending]) { (session, directory) async throws in
            let status = try await session.connect { try await $0.status() }
            #expect(status == nil)
            #expect(directory.isThrough)
        }
    }

    @Test("connect waits for a session that is starting")
    func coming() async throws {
        try await withSession([Self.gone, nil]) { (session, _) async throws in
            let status = try await session.connect { try await $0.status() }
            #expect(status?.identifier == "here")
        }
    }

    @Test("A session that does not answer is reported at once")
    func silent() async throws {
        try await withSession([Self.silent, nil]) { session, _ in
            await #expect(throws: Self.silent) { try await session.connect { try await $0.status() } }
        }
    }

    @Test("A session that has its lock and never serves is reported in time, and is not started again")
    func deaf() async throws {
        try await withSession(Array(repeating: Self.gone, count: 100), patience: .milliseconds(100)) {
            (session, _) async throws in
            await #expect(throws: Self.gone) { try await session.connect { try await $0.status() } }
            await #expect(throws: Self.gone) {
                try await session.open(wakes: true) {
                    try await $0.status()
                } orStart: { _ in
                    Issue.record("a second session is started")
                    return nil
                }
            }
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
        try await withSession(Array(repeating: Self.silent, count: 100), patience: .milliseconds(100)) {
            (session, directory) async throws in
            directory.hasLock.withLock { $0 = false }
            let error = await #expect(throws: DownloadError.self) {
                try await session.open(wakes: true) {
                    try await $0.status()
                } orStart: { _ in
                    Issue.record("a second session is started")
                    return nil
                }
            }
            #expect(error?.description.contains("no session answers") == true)
        }
    }

    @Test("If nothing listens, a session is started, and started again if another session was faster and has ended")
    func starting() async throws {
        let faster = DownloadError.sessionUnavailable(.alreadyRunning("background"))
        try await withSession([Self.gone, Self.gone, nil]) { (session, directory) async throws in
            directory.hasLock.withLock { $0 = false }
            var starts = 0
            let status = try await session.open(wakes: true) {
                try await $0.status()
            } orStart: { _ in
                starts += 1
                if starts == 1 { throw faster }
                directory.hasLock.withLock { $0 = true }
                return nil
            }
            #expect(status.identifier == "here" && starts == 2)
        }
    }

    @Test("Without a service manager, the socket of a dead session is not used")
    func dead() async throws {
        try await withSession([]) { (session, directory) async throws in
            directory.hasLock.withLock { $0 = false }
            let started = try await session.open(wakes: false) { _ in
                false
            } orStart: { _ in
                true
            }
            #expect(started)
        }
    }
}
