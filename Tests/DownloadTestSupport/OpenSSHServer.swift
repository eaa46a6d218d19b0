import Foundation

/// A real SSH server on the loopback interface, for SFTP and SCP. End it with ``stop()``.
package final class OpenSSHServer: Sendable {
    package static let canRun = PrivateServer.canRun(["/usr/sbin/sshd", "/usr/bin/ssh-keygen", "/usr/bin/unshare"])

    private let folder: TemporaryFolder
    private let server: PrivateServer
    package let port: Int
    /// The path of the private key with which the user can log in.
    package let key: String
    /// The line for known_hosts, as ssh-keyscan writes it.
    package let knownHost: String

    /// - Parameter mostLogins: the maximum number of logins under way at the same time. Nil means OpenSSH's own limit.
    package init(mostLogins: Int? = nil) async throws {
        folder = try TemporaryFolder()
        try folder.makeFolder("files")
        for name in ["host", "key"] { try await Self.makeKey(folder(name), "-t", "ed25519") }
        key = folder("key")
        port = try LoopbackSocket.unusedPort()
        try folder.write(try folder.read("key.pub"), to: "authorized")
        knownHost = "[127.0.0.1]:\(port) \(try folder.read("host.pub"))"
        try folder.write(
            """
            Port \(port)
            ListenAddress 127.0.0.1
            HostKey \(folder("host"))
            PidFile none
            UsePAM no
            PermitRootLogin yes
            PasswordAuthentication yes
            KbdInteractiveAuthentication no
            AuthorizedKeysFile \(folder("authorized"))
            StrictModes no
            LogLevel VERBOSE
            \(mostLogins.map { "MaxStartups \($0)" } ?? "")
            Subsystem sftp /usr/lib/openssh/sftp-server -e -l VERBOSE 2>>\(folder("sftp.log"))

            """, to: "sshd.conf")
        // The user has root's number. With another number, the user could not log in if the test's folder is private.
        server = try await PrivateServer(
            in: folder, user: "0:0::\(folder("files")):/bin/sh",
            command: "exec /usr/sbin/sshd -D -e -f '\(folder("sshd.conf"))'", port: port)
    }

    private static func makeKey(_ path: String, _ kind: String...) async throws {
        try await ChildProcess.succeed(ProcessLaunch("/usr/bin/ssh-keygen", ["-q", "-N", "", "-f", path] + kind))
    }

    /// Creates another key that the server accepts. It needs a signature with SHA-2.
    package func rsaKey() async throws -> String {
        // A key of 2048 bits is made much faster than one of the usual 3072 bits.
        try await Self.makeKey(folder("rsa"), "-t", "rsa", "-b", "2048")
        try folder.write(try folder.read("key.pub") + folder.read("rsa.pub"), to: "authorized")
        return folder("rsa")
    }

    /// Returns a line for known_hosts with a key that is not the server's key.
    package func otherKey() async throws -> String {
        try await Self.makeKey(folder("other"), "-t", "ed25519")
        return "[127.0.0.1]:\(port) \(try folder.read("other.pub"))"
    }

    package func addFolder(_ name: String) throws { try folder.makeFolder("files/\(name)") }

    package func add(_ content: Content, as name: String) throws { try content.write(to: path(name)) }

    package func path(_ name: String) -> String { folder("files/\(name)") }

    /// - Parameter password: the password in the URL. Nil means a login by key.
    package func url(_ name: String, _ scheme: String = "sftp", password: String? = PrivateServer.password) -> String {
        "\(scheme)://\(PrivateServer.user)\(password.map { ":\($0)" } ?? "")@127.0.0.1:\(port)\(path(name))"
    }

    /// The number of bytes that were read of each file that was sent over SFTP, in order.
    package var read: [Int64] {
        let log = (try? folder.read("sftp.log")) ?? ""
        return log.matches(of: /close "[^"]*" bytes read (\d+)/).compactMap { Int64($0.output.1) }
    }

    package func stop() async {
        await server.process.stop()
    }
}
