import Foundation

/// A real FTP server on the loopback interface: without TLS, with TLS if the client asks for it, and with TLS from the
/// beginning (ftps). End it with ``stop()``.
package final class Vsftpd: Sendable {
    package static let canRun = PrivateServer.canRun(["/usr/sbin/vsftpd", "/usr/bin/unshare"])

    package let certificates: Certificates
    private let folder: TemporaryFolder
    private let plain: PrivateServer
    private let encrypted: PrivateServer
    private let port: Int
    private let securePort: Int

    /// - Parameters:
    ///   - encrypts: whether a client that begins without TLS can ask for TLS.
    ///   - mostConnections: the maximum number of connections at the same time. Nil means no limit.
    package init(encrypts: Bool = true, mostConnections: Int? = nil) async throws {
        folder = try TemporaryFolder()
        certificates = try await Certificates(in: folder, of: "vsftpd")
        for name in ["files", "empty"] { try folder.makeFolder(name) }
        for name in [folder.path, folder("files")] { chmod(name, 0o755) }
        port = try LoopbackSocket.unusedPort()
        securePort = try LoopbackSocket.unusedPort()
        let pam = "auth required pam_unix.so\naccount required pam_unix.so\nsession required pam_permit.so\n"
        try folder.write(pam, to: "pam")
        let limit = mostConnections.map { "max_per_ip=\($0)\n" } ?? ""
        let base = Self.configuration(folder, certificates) + limit
        let plainBase = encrypts ? base : base.replacing("ssl_enable=YES", with: "ssl_enable=NO")
        try folder.write(plainBase + "listen_port=\(port)\n", to: "plain.conf")
        try folder.write(base + "listen_port=\(securePort)\nimplicit_ssl=YES\n", to: "secure.conf")
        let (folder, user) = (folder, "12321:12321::\(folder("files")):/bin/sh")
        func start(_ name: String, at port: Int) async throws -> PrivateServer {
            try await PrivateServer(
                in: folder, user: user, mounts: ["pam": "/etc/pam.d/vsftpd"],
                command: "exec /usr/sbin/vsftpd '\(folder(name))'", port: port)
        }
        plain = try await start("plain.conf", at: port)
        encrypted = try await start("secure.conf", at: securePort)
    }

    private static func configuration(_ folder: TemporaryFolder, _ certificates: Certificates) -> String {
        """
        listen=YES
        listen_address=127.0.0.1
        background=NO
        anonymous_enable=YES
        anon_root=\(folder("files"))
        local_enable=YES
        pam_service_name=vsftpd
        secure_chroot_dir=\(folder("empty"))
        log_ftp_protocol=YES
        xferlog_enable=YES
        vsftpd_log_file=\(folder("log"))
        mdtm_write=NO
        ssl_enable=YES
        force_local_data_ssl=NO
        force_local_logins_ssl=NO
        rsa_cert_file=\(certificates.certificate)
        rsa_private_key_file=\(certificates.key)
        ssl_tlsv1=YES
        seccomp_sandbox=NO
        isolate=NO
        isolate_network=NO

        """
    }

    /// Adds a file, or replaces a file of this name.
    package func add(_ content: Content, as name: String) throws {
        try content.write(to: path(name))
        chmod(path(name), 0o644)
    }

    package func path(_ name: String) -> String { folder("files/\(name)") }

    /// Returns the URL of a file. The host is a name, because the certificate contains the name.
    package func url(_ name: String) -> String { "ftp://localhost:\(port)/\(name)" }
    package func secureURL(_ name: String) -> String { "ftps://localhost:\(securePort)/\(name)" }

    package func url(_ name: String, as user: String, _ password: String) -> String {
        "ftp://\(user):\(password)@localhost:\(port)/\(name)"
    }

    /// The commands that the server received, and the data that it sent.
    package var log: String { (try? folder.read("log")) ?? "" }

    /// The offsets that clients asked for.
    package var offsets: [Int64] {
        log.matches(of: /FTP command: Client "[^"]*", "REST (\d+)"/).compactMap { Int64($0.output.1) }
    }

    /// The sizes of the files that were sent completely.
    package var sent: [Int64] {
        log.matches(of: /OK DOWNLOAD: Client "[^"]*", "[^"]*", (\d+) bytes/).compactMap { Int64($0.output.1) }
    }

    package func stop() async {
        await plain.process.stop()
        await encrypted.process.stop()
    }
}
