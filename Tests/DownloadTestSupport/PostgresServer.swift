import Foundation
import Glibc

/// A PostgreSQL server with a cluster of its own, on a Unix socket and a port of the loopback interface. End it with
/// ``stop()``.
package final class PostgresServer: Sendable {
    /// The folder of PostgreSQL's programs; nil if it is not installed.
    private static let programs = ((try? FileManager.default.contentsOfDirectory(atPath: root)) ?? [])
        .compactMap { Int($0) }.sorted().map { "\(root)/\($0)/bin" }
        .last { FileManager.default.isExecutableFile(atPath: $0 + "/initdb") }
    private static let root = "/usr/lib/postgresql"
    package static let canRun = programs != nil
    /// The user of the programs if the tests run as root, which PostgreSQL refuses.
    private static let user = "nobody"
    /// The password of every role that logs in over TCP.
    package static let password = PrivateServer.password

    private let folder: TemporaryFolder
    private let port: Int
    private let process = Observed<ChildProcess?>(nil)

    package init() async throws {
        folder = try TemporaryFolder()
        port = try LoopbackSocket.unusedPort()
        if geteuid() == 0, let entry = getpwnam(Self.user) {
            chown(folder.path, entry.pointee.pw_uid, entry.pointee.pw_gid)
        }
        try await ChildProcess.succeed(
            try launch(
                "initdb",
                [
                    "-D", folder("data"), "--no-sync", "--encoding=UTF8", "--locale=C", "--username=postgres",
                    "--auth-local=trust", "--auth-host=scram-sha-256",
                ]))
        try await start()
    }

    /// Starts the server, and returns when it accepts connections.
    package func start() async throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while true {
            // A server whose predecessor was killed refuses to start as long as processes of the predecessor live.
            let process = try ChildProcess(
                try launch(
                    "postgres",
                    [
                        "-D", folder("data"), "-k", folder.path, "-p", "\(port)", "-c", "listen_addresses=127.0.0.1",
                        "-c", "fsync=off", "-c", "autovacuum=off", "-c", "max_connections=40",
                    ]))
            self.process.update { $0 = process }
            // During the recovery, the log has errors of clients that came too early.
            while ContinuousClock.now < deadline {
                if process.standardError.contains("ready to accept connections") { return }
                if await process.waitForEnd(atMost: .milliseconds(20)) { break }
            }
            guard ContinuousClock.now < deadline else {
                process.send(SIGKILL)
                throw ChildProcess.Failure(description: "PostgreSQL did not start: \(process.standardError)")
            }
        }
    }

    /// Kills the server, which leaves the cluster to the recovery of the next start.
    package func kill() async {
        process.value?.send(SIGKILL)
        _ = await process.value?.waitForEnd(atMost: .seconds(30))
    }

    package func stop() async {
        process.value?.send(SIGINT)
        if await process.value?.waitForEnd(atMost: .seconds(10)) == false { await kill() }
    }

    /// Returns the URL of a database over the Unix socket, where every role may log in.
    package func url(_ database: String, as role: String = "postgres") -> String {
        "postgres://\(role)@/\(database)?host=\(folder.path)&port=\(port)"
    }

    /// Returns the URL of a database over TCP, where a role needs its password.
    package func networkURL(_ database: String, as role: String) -> String {
        "postgres://\(role)@127.0.0.1:\(port)/\(database)"
    }

    private func launch(_ program: String, _ arguments: [String]) throws -> ProcessLaunch {
        guard let programs = Self.programs else { throw ChildProcess.Failure(description: "PostgreSQL is missing") }
        let command = ["\(programs)/\(program)"] + arguments
        let setpriv = [
            "/usr/bin/setpriv", "--reuid=\(Self.user)", "--regid=nogroup", "--clear-groups", "--", command[0],
        ]
        let words = geteuid() == 0 ? setpriv + command.dropFirst() : command
        var launch = ProcessLaunch(words[0], Array(words.dropFirst()))
        launch.environment = ["PATH": "/usr/bin:/bin", "LANG": "C"]
        launch.folder = folder.path
        launch.timeLimit = .seconds(600)
        return launch
    }
}
