import Foundation

/// A real web server on the loopback interface, over http and https with HTTP/2 (and HTTP/3 if it has the module), that
/// serves a folder of its own. Every file is also served below `/slow`, `/described` and `/private`. Below `/slow` and
/// `/described`, each answer is limited to ``slowRate``. Below `/described`, the answer also names a Metalink document,
/// `NAME.meta4`. Below `/private`, the name and password are required (Basic). All paths below `/expired` are gone. End
/// the server with ``stop()``.
package final class Nginx: Sendable {
    /// The rate of an answer below `/slow` and `/described`, in bytes per second.
    package static let slowRate = 4 << 20

    /// Whether nginx has the module for HTTP/3, as in Debian 13.
    package static let hasHTTP3: Bool = {
        guard let pipe = popen("/usr/sbin/nginx -V 2>&1", "r") else { return false }
        defer { pclose(pipe) }
        var line = [CChar](repeating: 0, count: 8192)
        while fgets(&line, Int32(line.count), pipe) != nil {
            if strstr(line, "http_v3_module") != nil { return true }
        }
        return false
    }()

    package let folder: TemporaryFolder
    package let certificates: Certificates
    private let process: ChildProcess
    private let plainPort: Int
    private let securePort: Int
    private let address: String

    /// - Parameter link: two network namespaces with a link between them; nginx runs in the server's namespace. Nil
    ///   means the loopback interface.
    package init(on link: LinkedNamespaces? = nil) async throws {
        address = link == nil ? "127.0.0.1" : LinkedNamespaces.serverAddress
        let program = "/usr/sbin/nginx"
        guard FileManager.default.isExecutableFile(atPath: program) else {
            throw ChildProcess.Failure(description: "\(program) is missing: apt-get install nginx-light")
        }
        folder = try TemporaryFolder()
        certificates = try await Certificates(in: folder, of: "nginx")
        try folder.makeFolder("files")
        try folder.write("\(PrivateServer.user):{PLAIN}\(PrivateServer.password)\n", to: "users")
        plainPort = try LoopbackSocket.unusedPort()
        securePort = try LoopbackSocket.unusedPort()
        try folder.write(
            Self.configuration(
                folder: folder, address: address, plain: plainPort, secure: securePort, certificates: certificates),
            to: "nginx.conf")
        var launch = ProcessLaunch(program, ["-p", folder.path, "-c", folder("nginx.conf"), "-e", "stderr"])
        launch.timeLimit = .seconds(1800)
        process = try ChildProcess(link?.inServer(launch) ?? launch)
        // nginx listens before it starts its workers.
        guard await process.waitForOutput({ $0.errorText.contains("start worker process ") }) else {
            process.send(SIGKILL)
            throw ChildProcess.Failure(description: "nginx did not start: \(process.standardError)")
        }
    }

    /// Adds a file to the folder and returns its URL path.
    @discardableResult
    package func add(_ content: Content, as name: String) throws -> String {
        try content.write(to: folder("files/\(name)"))
        return "/\(name)"
    }

    /// Kills the workers with all their connections. The master starts others.
    package func killWorkers() throws {
        let workers = try String(contentsOfFile: "/proc/\(process.pid)/task/\(process.pid)/children", encoding: .utf8)
        for worker in workers.split(separator: " ").compactMap({ pid_t($0) }) { kill(worker, SIGKILL) }
    }

    package func url(_ path: String) -> String { "http://\(address):\(plainPort)\(path)" }

    /// Returns a proxy that connects every https host to this server. The server has the certificate of example.org and
    /// its subdomains.
    package func proxy() throws -> TunnelProxy { try TunnelProxy(to: securePort) }

    package func secureURL(_ path: String) -> String { "https://localhost:\(securePort)\(path)" }

    /// A finished request, as recorded in the access log.
    package struct LogLine: Sendable {
        package let status: Int
        package let bodyBytes: Int64
        package let range: String
        /// The version of HTTP: "HTTP/1.1" or "HTTP/2.0".
        package let version: String
        package let path: String
    }

    /// The requests that have ended.
    package var log: [LogLine] { Self.parse(process.standardOutput) }

    /// Waits until the access log meets a condition. Returns false if it does not within the limit.
    package func waitUntil(
        atMost limit: Duration = .seconds(45), _ isMet: @escaping @Sendable ([LogLine]) -> Bool
    ) async -> Bool {
        await process.waitForOutput(atMost: limit) { isMet(Self.parse($0.outputText)) }
    }

    package func stop() async {
        // nginx deletes its pid file when it ends, so it gets time for that.
        await process.stop()
    }

    private static func parse(_ text: String) -> [LogLine] {
        text.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard words.count == 6, words[0] == "request", let status = Int(words[1]), let body = Int64(words[2])
            else { return nil }
            return LogLine(
                status: status, bodyBytes: body, range: String(words[3]), version: String(words[4]),
                path: String(words[5]))
        }
    }

    private static func configuration(
        folder: TemporaryFolder, address: String, plain: Int, secure: Int, certificates: Certificates
    ) -> String {
        """
        daemon off;
        worker_processes 2;
        \(geteuid() == 0 ? "user root;" : "")
        pid \(folder("nginx.pid"));
        error_log stderr notice;
        events { worker_connections 2048; }
        http {
            log_format short 'request $status $body_bytes_sent $http_range $server_protocol $uri';
            access_log /dev/stdout short;
            client_body_temp_path \(folder("body"));
            proxy_temp_path \(folder("proxy"));
            fastcgi_temp_path \(folder("fastcgi"));
            uwsgi_temp_path \(folder("uwsgi"));
            scgi_temp_path \(folder("scgi"));
            sendfile on;
            tcp_nopush on;
            keepalive_requests 100000;
            gzip on;
            gzip_types application/octet-stream;
            default_type application/octet-stream;
            server {
                listen \(address):\(plain) backlog=1024;
                listen \(address):\(secure) ssl http2 backlog=1024;
                \(hasHTTP3 ? "listen \(address):\(secure) quic reuseport;" : "")
                ssl_certificate \(certificates.certificate);
                ssl_certificate_key \(certificates.key);
                ssl_protocols TLSv1.2 TLSv1.3;
                root \(folder("files"));
                location /slow/ {
                    alias \(folder("files"))/;
                    limit_rate \(slowRate);
                }
                location /described/ {
                    alias \(folder("files"))/;
                    limit_rate \(slowRate);
                    add_header Link '<$uri.meta4>; rel=describedby; type="application/metalink4+xml"';
                }
                location /private/ {
                    alias \(folder("files"))/;
                    auth_basic dlm;
                    auth_basic_user_file \(folder("users"));
                }
                location /expired/ {
                    return 410;
                }
            }
        }
        """
    }
}
