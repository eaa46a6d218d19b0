import Foundation

/// A Kerberos realm with one user and one service on the loopback interface: MIT's key distribution centre with a
/// database of its own. End it with ``stop()``.
package final class KerberosCentre: Sendable {
    package static let canRun = [centre, tool, admin, "/usr/bin/kinit"].allSatisfy {
        FileManager.default.isExecutableFile(atPath: $0)
    }
    private static let centre = "/usr/sbin/krb5kdc"
    private static let tool = "/usr/sbin/kdb5_util"
    private static let admin = "/usr/sbin/kadmin.local"
    private static let realm = "DLM.TEST"

    /// The file with the key of `HTTP/localhost`, for the server of this service.
    package let keytab: String
    /// The variables that every program of the realm needs.
    package let environment: [String: String]
    private let folder: TemporaryFolder
    private let process: ChildProcess

    package init() async throws {
        folder = try TemporaryFolder()
        keytab = folder("service.keytab")
        let port = try LoopbackSocket.unusedPort()
        // The centre only uses TCP, because `unusedPort` has only tried the port with TCP.
        try folder.write(
            """
            [libdefaults]
            default_realm = \(Self.realm)
            dns_lookup_kdc = false
            dns_lookup_realm = false
            dns_canonicalize_hostname = false
            rdns = false
            udp_preference_limit = 1
            [realms]
            \(Self.realm) = {
                kdc = 127.0.0.1:\(port)
            }
            [domain_realm]
            localhost = \(Self.realm)

            """, to: "krb5.conf")
        try folder.write(
            """
            [kdcdefaults]
            kdc_listen = ""
            kdc_tcp_listen = 127.0.0.1:\(port)
            [realms]
            \(Self.realm) = {
                database_name = \(folder("principal"))
                key_stash_file = \(folder("stash"))
                max_life = 1h
            }
            [logging]
            kdc = STDERR

            """, to: "kdc.conf")
        environment = ChildProcess.serverEnvironment.merging([
            "KRB5_CONFIG": folder("krb5.conf"), "KRB5_KDC_PROFILE": folder("kdc.conf"), "KRB5RCACHENAME": "none:",
        ]) { $1 }
        for (program, words) in [
            (Self.tool, ["create", "-s", "-P", "master", "-r", Self.realm]),
            (Self.admin, ["-q", "addprinc -pw \(PrivateServer.password) \(PrivateServer.user)"]),
            (Self.admin, ["-q", "addprinc -randkey HTTP/localhost"]),
            (Self.admin, ["-q", "ktadd -k \(keytab) HTTP/localhost"]),
        ] {
            try await Self.run(program, words, environment)
        }
        // The server of the service runs as another user.
        chmod(keytab, 0o644)
        var launch = ProcessLaunch(Self.centre, ["-n", "-P", folder("pid")])
        launch.environment = environment
        launch.timeLimit = .seconds(600)
        process = try ChildProcess(launch)
        try await process.waitToListen(at: port, "krb5kdc")
    }

    /// Gets the user's ticket, and returns the variables that a program needs to use the ticket.
    package func logIn() async throws -> [String: String] {
        let own = environment.merging(["KRB5CCNAME": "FILE:\(folder("tickets"))"]) { $1 }
        try await Self.run("/usr/bin/kinit", [PrivateServer.user], own, input: PrivateServer.password + "\n")
        return own
    }

    private static func run(
        _ program: String, _ words: [String], _ environment: [String: String], input: String? = nil
    ) async throws {
        var launch = ProcessLaunch(program, words)
        launch.environment = environment
        launch.input = input
        try await ChildProcess.succeed(launch)
    }

    package func stop() async {
        await process.stop()
    }
}
