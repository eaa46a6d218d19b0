import DownloadTestSupport
import Foundation
import Testing

/// A server with TLS, and a `dlm` with its own home folder that trusts the server's authority.
struct SecureSite: Sendable {
    let sandbox: DlmSandbox
    let server: FaultServer
    let certificates: Certificates
    let right: TLSBehaviour
    /// Whether `dlm` runs in a process of its own.
    let isProcess: Bool

    /// Returns a launch in which the authority is trusted.
    private func launch(_ arguments: [String]) throws -> ProcessLaunch {
        var launch = try sandbox.launch(arguments)
        launch.environment["SSL_CERT_FILE"] = certificates.authority
        return launch
    }

    func run(_ arguments: [String]) async throws -> ChildProcess.Result {
        try await launch(arguments).result(asProcess: isProcess)
    }

    func run(_ arguments: String...) async throws -> ChildProcess.Result { try await run(arguments) }

    /// Starts a download and ends it with SIGTERM, once the server has sent this many bytes and dlm has recorded some
    /// of them.
    func interrupt(_ arguments: [String], after bytes: Int64) async throws {
        let (reached, result) = try await launch(arguments).interrupted(
            asProcess: isProcess, after: bytes, from: server
        ) {
            // Only the download under test counts. The other downloads have a few bytes.
            _ = try await sandbox.ask {
                guard let id = try? await sandbox.ids(of: [server.url()]).first else { return Int64(0) }
                return try await sandbox.show(id).received
            } until: {
                $0 > 1000
            }
        }
        #expect(reached && result.ending == .signalled(SIGTERM), "\(result.stderr)")
    }
}

/// Runs a test with certificates, and removes them afterwards.
func withCertificates(_ body: (Certificates) async throws -> Void) async throws {
    let folder = try TemporaryFolder()
    try await body(try await Certificates(in: folder))
}

/// Runs a test in a home of its own, against a server with this script and this behaviour of TLS.
func withSecureDlm(
    _ certificates: Certificates, asProcess: Bool = false, asksBesideFile: Bool = false,
    tls: @escaping @Sendable (Int, TLSBehaviour) -> TLSBehaviour = { $1 },
    _ handler: @escaping FaultServer.Handler, _ body: (SecureSite) async throws -> Void
) async throws {
    let right = TLSBehaviour(certificates.right)
    let server = try FaultServer(tls: { tls($0, right) }, handler)
    try await withDlm(asksBesideFile: asksBesideFile) { sandbox in
        try await body(
            SecureSite(
                sandbox: sandbox, server: server, certificates: certificates, right: right, isProcess: asProcess))
    }
}

/// The same with certificates of its own.
func withSecureDlm(
    tls: @escaping @Sendable (Int, TLSBehaviour) -> TLSBehaviour = { $1 }, asksBesideFile: Bool = false,
    _ handler: @escaping FaultServer.Handler, _ body: (SecureSite) async throws -> Void
) async throws {
    try await withCertificates {
        try await withSecureDlm($0, asksBesideFile: asksBesideFile, tls: tls, handler, body)
    }
}
