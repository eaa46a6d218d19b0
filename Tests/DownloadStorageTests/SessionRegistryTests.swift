import DownloadCore
import Foundation
import Testing

@testable import DownloadStorage

@Suite("The session registry", .timeLimit(.minutes(1)))
struct SessionRegistryTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func lockFile(_ identifier: String) -> String { folder.path + "/sessions/\(identifier).lock" }

    @Test("knows its own sessions as live, and so does every other registry")
    func ownSession() throws {
        let registry = SessionRegistry(stateFolder: folder.path)
        let other = SessionRegistry(stateFolder: folder.path)
        #expect(!registry.isAlive("a"))
        #expect(try registry.register("a"))
        #expect(registry.isAlive("a"))
        #expect(other.isAlive("a"))
        #expect(registry.isAlive("a"))
        #expect(!other.isAlive("b"))
        #expect(try String(contentsOfFile: lockFile("a"), encoding: .utf8) == "\(getpid())\n")
    }

    @Test("gives an identifier to one live session only")
    func oneEach() async throws {
        let folder = folder
        let winners = try await withThrowingTaskGroup(of: SessionRegistry?.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    let registry = SessionRegistry(stateFolder: folder.path)
                    return try registry.register("background") ? registry : nil
                }
            }
            return try await group.reduce(into: []) { $0 += [$1].compactMap(\.self) }
        }
        #expect(winners.count == 1)
        #expect(try !SessionRegistry(stateFolder: folder.path).register("background"))
    }

    @Test("ends a session with unregister, and with the registry")
    func ends() throws {
        let observer = SessionRegistry(stateFolder: folder.path)
        do {
            let registry = SessionRegistry(stateFolder: folder.path)
            #expect(try registry.register("a"))
            #expect(try registry.register("b"))
            registry.unregister("a")
            #expect(!observer.isAlive("a"))
            #expect(!registry.isAlive("a"))
            #expect(observer.isAlive("b"))
            #expect(!FileManager.default.fileExists(atPath: lockFile("a")))
        }
        #expect(!observer.isAlive("b"))
        #expect(!FileManager.default.fileExists(atPath: lockFile("b")))
    }

    @Test("sees at once that a process was killed, and clears up after it at the next start")
    func killedProcess() throws {
        let registry = SessionRegistry(stateFolder: folder.path)
        #expect(try registry.register("me"))
        let holder = try LockHolder(lockFile("foreground-7-victim"))
        #expect(registry.isAlive("foreground-7-victim"))
        #expect(try !registry.register("foreground-7-victim"))
        #expect(registry.isAlive("foreground-7-victim"))
        holder.kill()
        #expect(!registry.isAlive("foreground-7-victim"))

        #expect(FileManager.default.fileExists(atPath: lockFile("foreground-7-victim")))
        #expect(try registry.register("next"))
        #expect(!FileManager.default.fileExists(atPath: lockFile("foreground-7-victim")))
        #expect(registry.isAlive("me"))
    }

    @Test("lets a session take the identifier of a killed one")
    func reuse() throws {
        let registry = SessionRegistry(stateFolder: folder.path)
        #expect(try registry.register("me"))
        try LockHolder(lockFile("background")).kill()
        #expect(try registry.register("background"))
        #expect(SessionRegistry(stateFolder: folder.path).isAlive("background"))
    }

    @Test("keeps every live session while others begin, end and clear up")
    func unlinkRace() async throws {
        let folder = folder
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    for _ in 0..<100 {
                        let registry = SessionRegistry(stateFolder: folder.path)
                        let observer = SessionRegistry(stateFolder: folder.path)
                        let name = "s\(number % 4)"
                        guard try registry.register(name) else { continue }
                        #expect(observer.isAlive(name))
                        #expect(try !observer.register(name))
                        registry.unregister(name)
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("takes no identifier that is no file name", arguments: ["", ".", "..", "../x", "a/b", "\0", ".hidden"])
    func identifiers(identifier: String) {
        let registry = SessionRegistry(stateFolder: folder.path)
        #expect(throws: DownloadError.self) { try registry.register(identifier) }
        #expect(!registry.isAlive(identifier))
    }

    @Test("hands the downloads of a killed process to the next that asks")
    func takeover() async throws {
        let registry = SessionRegistry(stateFolder: folder.path)
        #expect(try registry.register("me"))
        let holder = try LockHolder(lockFile("foreground-7-victim"))
        let store = try folder.open(isAlive: registry.isAlive)
        let ids = try await store.add([Sample.request("a"), Sample.request("b")], session: "foreground-7-victim").map(
            \.record.id)

        #expect(
            try await store.claim(ids, session: "me").map(\.record.session) == [
                "foreground-7-victim", "foreground-7-victim",
            ])
        try await store.releaseDeadSessions()
        #expect(try await store.records(.all).map(\.state) == [.queued, .queued])
        holder.kill()
        #expect(try await store.claim([ids[0]], session: "me").map(\.record.session) == ["me"])
        try await store.releaseDeadSessions()
        #expect(try await store.records(.all).map(\.state) == [.queued, .paused(.interrupted)])
        #expect(try await store.add([Sample.request("b")], session: "me").map(\.kind) == [.adopted])
    }
}

/// A process that holds a lock file until it is killed.
private struct LockHolder {
    private let process: Process

    /// Returns when the lock is held.
    init(_ path: String) throws {
        process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/flock")
        process.arguments = ["--no-fork", path, "sh", "-c", "echo locked; exec sleep 60"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        #expect(output.fileHandleForReading.availableData == Data("locked\n".utf8))
    }

    /// Returns when it is dead and buried.
    func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}
