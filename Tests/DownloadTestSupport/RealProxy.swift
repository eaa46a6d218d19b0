import Foundation

/// A real proxy on the loopback interface. For HTTP it is tinyproxy, with nginx in front of it for TLS. For SOCKS it is
/// OpenSSH (`ssh -D`), or microsocks if a name is required. End it with ``stop()``.
package final class RealProxy: Sendable {
    package enum Kind: String, Sendable, CaseIterable {
        case http, https, socks4, socks4a, socks5, socks5h

        package static let withLogin: [Kind] = [.http, .https, .socks5, .socks5h]
    }

    private static let tinyproxy = "/usr/bin/tinyproxy"
    private static let microsocks = "/usr/bin/microsocks"
    private static let nginx = "/usr/sbin/nginx"
    private static let streams = "/usr/lib/nginx/modules/ngx_stream_module.so"

    /// Whether the proxies can run. sshd lets other users log in only if it runs as root.
    package static let canRun =
        geteuid() == 0 && FileManager.default.isReadableFile(atPath: streams)
        && ([tinyproxy, microsocks, nginx] + ssh).allSatisfy { FileManager.default.isExecutableFile(atPath: $0) }
    private static let ssh = ["/usr/sbin/sshd", "/usr/bin/ssh", "/usr/bin/ssh-keygen"]

    package let port: Int
    /// The authority of the certificate that the proxy presents if it speaks TLS.
    package let authority: String?
    private let kind: Kind
    private let folder: TemporaryFolder
    private let processes: [ChildProcess]
    /// The process that writes ``mark`` for each connection that it makes for a client.
    private let witness: ChildProcess
    private let mark: String

    /// - Parameter user: the name and password that the proxy requires. Nil means none.
    package init(_ kind: Kind, user: (String, String)? = nil) async throws {
        self.kind = kind
        let folder = try TemporaryFolder()
        let port = try LoopbackSocket.unusedPort()
        self.folder = folder
        self.port = port
        let certificates = kind == .https ? try await Certificates(in: folder, of: "proxy") : nil
        authority = certificates?.authority
        if let certificates {
            let inner = try LoopbackSocket.unusedPort()
            witness = try Self.tinyproxy(in: folder, port: inner, user)
            try await witness.waitToListen(at: inner, "tinyproxy")
            processes = [witness, try Self.nginx(in: folder, port: port, to: inner, certificates)]
        } else if kind == .http {
            witness = try Self.tinyproxy(in: folder, port: port, user)
            processes = [witness]
        } else if let user {
            witness = try Self.microsocks(port: port, user)
            processes = [witness]
        } else {
            let (server, client) = try await Self.openSSH(in: folder, port: port)
            witness = client
            processes = [server, client]
        }
        let isHTTP = kind == .http || kind == .https
        mark = isHTTP ? "Established connection to host" : user == nil ? ": new dynamic-tcpip" : ": connected to "
        try await processes[processes.count - 1].waitToListen(at: port, "the proxy")
    }

    /// Returns the URL for `--proxy`.
    package func url(as user: (String, String)? = nil) -> String {
        "\(kind.rawValue)://\(user.map { "\($0.0):\($0.1)@" } ?? "")127.0.0.1:\(port)"
    }

    private static func tinyproxy(in folder: TemporaryFolder, port: Int, _ user: (String, String)?) throws
        -> ChildProcess
    {
        // Without a line ConnectPort, tinyproxy makes tunnels to any port.
        let lines = [
            "Port \(port)", "Listen 127.0.0.1", "Timeout 60", "MaxClients 100", "LogLevel Connect",
            user.map { "BasicAuth \($0.0) \($0.1)" } ?? "",
        ]
        try folder.write(lines.map { $0 + "\n" }.joined(), to: "proxy.conf")
        return try ChildProcess(launch(tinyproxy, ["-d", "-c", folder("proxy.conf")]))
    }

    private static func microsocks(port: Int, _ user: (String, String)) throws -> ChildProcess {
        try ChildProcess(launch(microsocks, ["-i", "127.0.0.1", "-p", "\(port)", "-u", user.0, "-P", user.1]))
    }

    /// Starts nginx, which terminates TLS and forwards the bytes to another port.
    private static func nginx(
        in folder: TemporaryFolder, port: Int, to inner: Int, _ certificates: Certificates
    ) throws -> ChildProcess {
        try folder.write(
            """
            load_module \(streams);
            daemon off;
            \(geteuid() == 0 ? "user root;" : "")
            pid \(folder("nginx.pid"));
            events { worker_connections 512; }
            stream {
                server {
                    listen 127.0.0.1:\(port) ssl;
                    ssl_certificate \(certificates.certificate);
                    ssl_certificate_key \(certificates.key);
                    ssl_protocols TLSv1.2 TLSv1.3;
                    proxy_pass 127.0.0.1:\(inner);
                }
            }

            """, to: "nginx.conf")
        return try ChildProcess(launch(nginx, ["-p", folder.path, "-c", folder("nginx.conf"), "-e", "stderr"]))
    }

    private static func openSSH(in folder: TemporaryFolder, port: Int) async throws -> (ChildProcess, ChildProcess) {
        for name in ["host", "key"] {
            try await ChildProcess.succeed(launch(ssh[2], ["-q", "-t", "ed25519", "-N", "", "-f", folder(name)]))
        }
        let inner = try LoopbackSocket.unusedPort()
        let lines = [
            "Port \(inner)", "ListenAddress 127.0.0.1", "HostKey \(folder("host"))",
            "AuthorizedKeysFile \(folder("key.pub"))", "PidFile none", "StrictModes no", "UsePAM no",
        ]
        try folder.write(lines.map { $0 + "\n" }.joined(), to: "sshd.conf")
        // sshd needs this folder for dropping its privileges.
        try FileManager.default.createDirectory(atPath: "/run/sshd", withIntermediateDirectories: true)
        let server = try ChildProcess(launch(ssh[0], ["-D", "-e", "-f", folder("sshd.conf")]))
        try await server.waitToListen(at: inner, "sshd")
        let client = try ChildProcess(
            launch(
                ssh[1],
                [
                    "-v", "-N", "-F", "none", "-D", "127.0.0.1:\(port)", "-p", "\(inner)", "-i", folder("key"),
                    "-o", "IdentitiesOnly=yes", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null",
                    "root@127.0.0.1",
                ]))
        return (server, client)
    }

    private static func launch(_ program: String, _ arguments: [String]) -> ProcessLaunch {
        var launch = ProcessLaunch(program, arguments)
        launch.timeLimit = .seconds(600)
        launch.environment = ChildProcess.serverEnvironment.merging(["HOME": "/nonexistent"]) { $1 }
        return launch
    }

    /// The number of connections that the proxy made for clients.
    package var connections: Int {
        Self.count(of: mark, in: witness.standardOutput + witness.standardError)
    }

    /// Waits for this many connections. The output of a proxy may come later than its connections. Returns false if
    /// they do not come within the limit.
    package func waitForConnections(_ count: Int) async -> Bool {
        await witness.waitForOutput(atMost: .seconds(45)) { [mark] in
            Self.count(of: mark, in: $0.outputText + $0.errorText) >= count
        }
    }

    private static func count(of mark: String, in text: String) -> Int { text.components(separatedBy: mark).count - 1 }

    /// Ends the processes of the proxy. Then nothing listens at its port.
    package func end() async {
        for process in processes.reversed() { await process.stop() }
    }

    package func stop() async {
        await end()
    }
}
