import Foundation

/// A certificate authority made for one run of the tests, and a certificate of it for the loopback interface.
package struct Certificates: Sendable {
    package let authority: String
    package let certificate: String
    package let key: String

    /// Made by the `openssl` command in the folder.
    package init(in folder: TemporaryFolder) async throws {
        (authority, certificate, key) = (folder("ca.pem"), folder("server.pem"), folder("server.key"))
        try folder.write(
            """
            [req]
            distinguished_name = name
            [name]
            [authority]
            basicConstraints = critical, CA:TRUE
            keyUsage = critical, keyCertSign
            subjectKeyIdentifier = hash
            [server]
            basicConstraints = critical, CA:FALSE
            subjectAltName = DNS:localhost, IP:127.0.0.1
            extendedKeyUsage = serverAuth
            """, to: "openssl.cnf")
        let common = [
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "7",
            "-config", folder("openssl.cnf"),
        ]
        try await Self.openssl(
            common + [
                "-subj", "/CN=dlm test authority", "-extensions", "authority", "-keyout", folder("ca.key"),
                "-out", authority,
            ])
        try await Self.openssl(
            common + [
                "-subj", "/CN=localhost", "-extensions", "server", "-CA", authority, "-CAkey", folder("ca.key"),
                "-keyout", key, "-out", certificate,
            ])
    }

    private static func openssl(_ arguments: [String]) async throws {
        let result = try await ChildProcess(ProcessLaunch("/usr/bin/openssl", arguments)).result()
        guard result.ending == .exited(0) else {
            throw ChildProcess.Failure(description: "openssl \(arguments.joined(separator: " ")): \(result.stderr)")
        }
    }
}
