import DownloadCore
import DownloadSystem
import Foundation
import DownloadTestSupport
import Testing

@testable import DownloadStorage

@Suite("SessionRegistry", .inTurn, .timeLimit(.minutes(1)))
struct SessionRegistryTests {
    let folder = TemporaryFolder()

    private func lockFile(_ identifier: String) -> String { folder.path + "/sessions/\(identifier).lock" }

    @Test("A registered session is live for its own registry and for others")
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

    @Test("Only one live session has an identifier")
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

    @Test("A session ends with unregister, or with its registry")
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

    @Test("A killed process is seen as dead at once, and its files are removed when the next session starts")
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

    @Test("A session can take the identifier of a killed one")
    func reuse() throws {
        let registry = SessionRegistry(stateFolder: folder.path)
        #expect(try registry.register("me"))
        try LockHolder(lockFile("background")).kill()
        #expect(try registry.register("background"))
        #expect(SessionRegistry(stateFolder: folder.path).isAlive("background"))
    }

    @Test("Every live session is kept while others begin, end and remove files")
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

    @Test(
        "An identifier that is not a plain file name is refused",
        arguments: ["", ".", "..", "../x", "a/b", "\0", ".hidden"])
    func identifiers(identifier: String) {
        let registry = SessionRegistry(stateFolder: folder.path)
        #expect(throws: DownloadError.self) { try registry.register(identifier) }
        #expect(!registry.isAlive(identifier))
    }

    @Test("The live sessions and their processes are listed")
    func live() throws {
        let registry = SessionRegistry(stateFolder: folder.path)
        #expect(registry.liveSessions() == [])
        #expect(registry.pid(of: "me") == nil)
        #expect(try registry.register("me") && registry.register("background"))
        let other = SessionRegistry(stateFolder: folder.path)
        let holder = try LockHolder(lockFile("foreground-7-victim"))
        for registry in [registry, other] {
            #expect(registry.liveSessions() == ["background", "foreground-7-victim", "me"])
            #expect(registry.pid(of: "me") == getpid())
            #expect(registry.pid(of: "foreground-7-victim") == nil)
            #expect(registry.pid(of: "../me") == nil)
        }
        for (text, pid) in [
            ("4711\n", 4711), ("4711", nil), ("-5\n", nil), ("0\n", nil), ("x\n", nil), ("9999999999\n", nil),
        ]
            as [(String, Int32?)]
        {
            try text.write(toFile: lockFile("foreground-7-victim"), atomically: false, encoding: .utf8)
            #expect(other.pid(of: "foreground-7-victim") == pid)
        }
        try "4711\n".write(toFile: lockFile("foreground-7-victim"), atomically: false, encoding: .utf8)
        holder.kill()
        registry.unregister("background")
        #expect(other.liveSessions() == ["me"])
        #expect(other.pid(of: "foreground-7-victim") == nil)
    }

    @Test("The socket of a dead foreground session is removed; that of a background session is kept for its return")
    func sockets() throws {
        let registry = SessionRegistry(stateFolder: folder.path)
        #expect(try registry.register("me"))
        func socket(_ identifier: String) -> String { folder.path + "/sessions/\(identifier).sock" }
        let dead = "foreground-7-dead"
        for name in [dead, "background", "me"] {
            close(try listen(socket(name)))
            if name != "me" { try LockHolder(lockFile(name)).kill() }
        }
        #expect(try SessionRegistry(stateFolder: folder.path).register("next"))
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/sessions").sorted()
        #expect(left == ["background.sock", "me.lock", "me.sock"])
    }

    @Test("The sessions folder is closed to other users", arguments: [0o777, 0o755, 0o1770, 0o500])
    func mode(mode: Int) throws {
        let sessions = folder.path + "/sessions"
        try FileManager.default.createDirectory(atPath: sessions, withIntermediateDirectories: false)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: sessions)
        #expect(try SessionRegistry(stateFolder: folder.path).register("me"))
        #expect(try FileManager.default.attributesOfItem(atPath: sessions)[.posixPermissions] as? Int == 0o700)
    }

    @Test(
        "A sessions folder of another user is refused",
        .enabled(if: geteuid() == 0, "only root can give a folder away"))
    func foreignFolder() throws {
        let sessions = folder.path + "/sessions"
        try FileManager.default.createDirectory(atPath: sessions, withIntermediateDirectories: false)
        #expect(chown(sessions, 12345, 12345) == 0)
        let error = #expect(throws: DownloadError.self) {
            try SessionRegistry(stateFolder: folder.path).register("me")
        }
        #expect(
            error
                == .sessionUnavailable(
                    .storeUnreadable(
                        path: sessions,
                        message: "belongs to another user (uid 12345; this process has uid 0); "
                            + "set XDG_STATE_HOME to a folder you can write to")))
        #expect(try FileManager.default.contentsOfDirectory(atPath: sessions) == [])
    }

    @Test("The downloads of a killed process go to the next session that claims them")
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

/// Returns a socket that listens at `path`. Its file stays when the socket is closed.
private func listen(_ path: String) throws -> Int32 {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    try #require(path.utf8.count < MemoryLayout.size(ofValue: address.sun_path))
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let isBound = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
        }
    }
    try #require(isBound && listen(descriptor, 1) == 0)
    return descriptor
}

/// A process that has a file locked until the process is killed.
private struct LockHolder {
    private let process: Process

    /// Returns when the process has the lock.
    init(_ path: String) throws {
        process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/flock")
        process.arguments = ["--no-fork", path, "sh", "-c", "echo locked; exec sleep 60"]
        let output = Pipe()
        process.standardOutput = output
        try WriterWatch.shared.withoutClosing { [process] in Result { try process.run() } }.get()
        #expect(output.fileHandleForReading.availableData == Data("locked\n".utf8))
    }

    /// Returns when the process is dead and reaped.
    func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}
