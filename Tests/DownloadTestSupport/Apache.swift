import Foundation

/// A real web server on the loopback interface that authenticates by NTLM or by Negotiate (Kerberos), and serves a
/// folder of its own. `/away/PORT` redirects authenticated users to another port. End the server with ``stop()``.
package final class Apache: Sendable {
    package enum Way: Sendable {
        case ntlm
        case negotiate(KerberosCentre)
    }

    /// Whether Apache and its modules are installed. The folder of the library of gss-ntlmssp depends on the
    /// processor's architecture, so its configuration file is looked for.
    package static let canRun =
        FileManager.default.isExecutableFile(atPath: program)
        && ["\(modules)/mod_auth_gssapi.so", "/etc/gss/mech.d/mech.ntlmssp.conf"].allSatisfy {
            FileManager.default.isReadableFile(atPath: $0)
        }
    private static let program = "/usr/sbin/apache2"
    private static let modules = "/usr/lib/apache2/modules"

    private let folder: TemporaryFolder
    private let process: ChildProcess
    private let port: Int

    package init(_ way: Way) async throws {
        folder = try TemporaryFolder()
        try folder.makeFolder("files")
        port = try LoopbackSocket.unusedPort()
        try folder.write("DLM:\(PrivateServer.user):\(PrivateServer.password)\n", to: "users")
        let lines: String
        var heading = ""
        var environment = ChildProcess.serverEnvironment
        switch way {
        case .ntlm:
            environment["NTLM_USER_FILE"] = folder("users")
            lines = "GssapiAllowedMech ntlmssp\nGssapiConnectionBound On"
            heading = Self.completed
        case .negotiate(let centre):
            environment.merge(centre.environment) { $1 }
            lines = "GssapiAllowedMech krb5\nGssapiCredStore keytab:\(centre.keytab)"
        }
        try folder.write(Self.configuration(folder, port, heading, lines), to: "apache.conf")
        var launch = ProcessLaunch(Self.program, ["-D", "FOREGROUND", "-f", folder("apache.conf")])
        launch.environment = environment
        launch.timeLimit = .seconds(600)
        process = try ChildProcess(launch)
        try await process.waitToListen(at: port, "Apache", log: errors)
    }

    /// Directives that correct the NTLM messages of libcurl. gss-ntlmssp 1.2 requires the field Version in each message
    /// (MS-NLMP, section 2.2.2.10), which libcurl's messages lack. The first message is filled up with zeros. The third
    /// message copies the server's flag that the field is present, so the flag is removed. The flag is the bit 0x02 of
    /// the byte at offset 63. The digit of base64 with this bit also has four bits of the next byte. So 16 digits can
    /// contain the flag, and each digit has its own directive.
    private static let completed: String = {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuv")
        let edits =
            [("TlRMTVNTUAABAAAA.{24}", "AAA=$", "AAAAAAAAAAAAAA==")]
            + (0..<16).map { ("TlRMTVNTUAADAAAA.{68}A", "\(digits[32 + $0])", "\(digits[$0])") }
        return edits.map { "RequestHeader edit Authorization \"^(NTLM \($0))\($1)\" \"$1\($2)\" early" }
            .joined(separator: "\n")
    }()

    private static func configuration(
        _ folder: TemporaryFolder, _ port: Int, _ heading: String, _ lines: String
    ) -> String {
        let names = ["mpm_event", "authn_core", "authz_core", "authz_user", "auth_gssapi", "headers", "rewrite"]
        let loaded = names.map { "LoadModule \($0)_module \(modules)/mod_\($0).so\n" }
        return """
            \(loaded.joined())
            \(heading)
            ServerRoot "\(folder.path)"
            ServerName localhost
            DefaultRuntimeDir "\(folder.path)"
            PidFile "\(folder("pid"))"
            Mutex posixsem
            Listen 127.0.0.1:\(port)
            User nobody
            Group nogroup
            KeepAlive On
            MaxKeepAliveRequests 0
            DocumentRoot "\(folder("files"))"
            ErrorLog "\(folder("errors"))"
            LogLevel info
            LogFormat "%>s %B %{Range}i %u %{Authorization}i" short
            CustomLog "\(folder("log"))" short
            <Location "/">
            AuthType GSSAPI
            AuthName dlm
            \(lines)
            Require valid-user
            </Location>
            <Location "/away">
            Options FollowSymLinks
            RewriteEngine On
            RewriteRule "away/([0-9]+)$" "http://127.0.0.1:$1/file.bin" [R=302,L]
            </Location>

            """
    }

    package func add(_ content: Content, as name: String) throws {
        try content.write(to: folder("files/\(name)"))
        chmod(folder("files/\(name)"), 0o644)
        // A file that changed a moment ago would have a weak ETag.
        let time = Date(timeIntervalSince1970: 1_600_000_000)
        try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: folder("files/\(name)"))
    }

    /// Returns the URL of a file. The host is a name, because a ticket is for a host name.
    package func url(_ name: String) -> String { "http://localhost:\(port)/\(name)" }

    package var errors: String { (try? folder.read("errors")) ?? "" }

    /// A request as recorded in the access log.
    package struct LogLine: Sendable {
        package let status: Int
        package let bytes: Int64
        package let range: String
        /// The authenticated user, or "-" for none.
        package let user: String
        /// The first word of the field Authorization, or "-".
        package let scheme: String
    }

    package var log: [LogLine] {
        ((try? folder.read("log")) ?? "").split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ", maxSplits: 5)
            guard words.count >= 5, let status = Int(words[0]) else { return nil }
            return LogLine(
                status: status, bytes: Int64(words[1]) ?? 0, range: String(words[2]), user: String(words[3]),
                scheme: String(words[4]))
        }
    }

    /// Ends the server, so that its log is complete, and returns the log.
    @discardableResult
    package func stop() async -> [LogLine] {
        await process.stop()
        return log
    }
}
