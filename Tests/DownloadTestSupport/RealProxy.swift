import Foundation

/// A real proxy on the loopback interface: tinyproxy for HTTP, OpenSSH (`ssh -D`) for SOCKS. End it with ``stop()``.
package final class RealProxy: Sendable {
    package enum Kind: Sendable {
        case http, socks

        fileprivate var programs: [String] {
            switch self {
            case .http: ["/usr/bin/tinyproxy"]
            case .socks: ["/usr/sbin/sshd", "/usr/bin/ssh", "/usr/bin/ssh-keygen"]
            }
        }

        /// sshd lets others in only when it runs as root.
        package var isPossible: Bool {
            programs.allSatisfy { FileManager.default.isExecutableFile(atPath: $0) }
                && (self == .http || geteuid() == 0)
        }
    }

    package let port: Int
    private let kind: Kind
    private let folder: TemporaryFolder
    private let processes: [ChildProcess]

    /// - Parameter user: name and password, of an HTTP proxy; nil for none.
    package init(_ kind: Kind, user: (String, String)? = nil) async throws {
        self.kind = kind
        folder = try TemporaryFolder()
        port = try LoopbackSocket.unusedPort()
        processes =
            switch kind {
            case .http: [try Self.tinyproxy(in: folder, port: port, user)]
            case .socks: try await Self.openSSH(in: folder, port: port)
            }
        try await Self.waitFor(port, processes)
    }

    private static func tinyproxy(in folder: TemporaryFolder, port: Int, _ user: (String, String)?) throws
        -> ChildProcess
    {
        let lines = [
            "Port \(port)", "Listen 127.0.0.1", "Timeout 60", "MaxClients 100", "LogLevel Connect",
            user.map { "BasicAuth \($0.0) \($0.1)" } ?? "",
        ]
        try folder.write(lines.map { $0 + "\n" }.joined(), to: "proxy.conf")
        return try ChildProcess(launch(Kind.http.programs[0], ["-d", "-c", folder("proxy.conf")]))
    }

    private static func openSSH(in folder: TemporaryFolder, port: Int) async throws -> [ChildProcess] {
        let programs = Kind.socks.programs
        for name in ["host", "key"] {
            let made = try await ChildProcess(
                launch(programs[2], ["-q", "-t", "ed25519", "-N", "", "-f", folder(name)])
            ).result()
            guard made.ending == .exited(0) else { throw ChildProcess.Failure(description: made.stderr) }
        }
        let inner = try LoopbackSocket.unusedPort()
        let lines = [
            "Port \(inner)", "ListenAddress 127.0.0.1", "HostKey \(folder("host"))",
            "AuthorizedKeysFile \(folder("key.pub"))", "PidFile none", "StrictModes no", "UsePAM no",
        ]
        try folder.write(lines.map { $0 + "\n" }.joined(), to: "sshd.conf")
        // Where it drops its rights.
        try FileManager.default.createDirectory(atPath: "/run/sshd", withIntermediateDirectories: true)
        let server = try ChildProcess(launch(programs[0], ["-D", "-e", "-f", folder("sshd.conf")]))
        try await waitFor(inner, [server])
        let client = try ChildProcess(
            launch(
                programs[1],
                [
                    "-v", "-N", "-F", "none", "-D", "127.0.0.1:\(port)", "-p", "\(inner)", "-i", folder("key"),
                    "-o", "IdentitiesOnly=yes", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null",
                    "root@127.0.0.1",
                ]))
        return [server, client]
    }

    private static func launch(_ program: String, _ arguments: [String]) -> ProcessLaunch {
        var launch = ProcessLaunch(program, arguments)
        launch.timeLimit = .seconds(600)
        launch.environment = ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/nonexistent"]
        return launch
    }

    private static func waitFor(_ port: Int, _ processes: [ChildProcess]) async throws {
        let deadline = ContinuousClock.now + .seconds(20)
        while (try? LoopbackSocket.accepts(port: port)) != true {
            if .now < deadline { continue }
            for process in processes { process.send(SIGKILL) }
            let said = processes.map { $0.standardError + $0.standardOutput }.joined()
            throw ChildProcess.Failure(description: "the proxy did not start: \(said)")
        }
    }

    /// Connections that it made for somebody.
    package var connections: Int {
        let text = processes.map { $0.standardOutput + $0.standardError }.joined()
        let mark = kind == .http ? "Established connection to host" : ": new dynamic-tcpip"
        return text.components(separatedBy: mark).count - 1
    }

    package func stop() async {
        for process in processes.reversed() {
            process.send(SIGTERM)
            if await !process.waitForEnd(atMost: .seconds(5)) { process.send(SIGKILL) }
        }
        folder.remove()
    }
}
