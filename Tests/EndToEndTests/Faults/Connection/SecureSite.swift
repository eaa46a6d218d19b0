import DownloadTestSupport
import Foundation
import Testing

/// A server over TLS, and a `dlm` with a home of its own that trusts the server's authority.
struct SecureSite: Sendable {
    let sandbox: DlmSandbox
    let server: FaultServer
    let authority: String
    let right: TLSBehaviour

    /// Starts `dlm` with the authority known.
    func start(_ arguments: [String]) throws -> ChildProcess {
        var launch = try sandbox.launch(arguments)
        launch.environment["SSL_CERT_FILE"] = authority
        return try ChildProcess(launch)
    }

    func run(_ arguments: [String]) async throws -> ChildProcess.Result { try await start(arguments).result() }

    func run(_ arguments: String...) async throws -> ChildProcess.Result { try await run(arguments) }

    /// Starts a download and ends it with SIGTERM once the server has sent so many bytes.
    func interrupt(_ arguments: [String], after bytes: Int64) async throws {
        let process = try start(arguments)
        let reached = await server.waitUntil { $0.bytesSent >= bytes }
        process.send(SIGTERM)
        let result = try await process.result()
        #expect(reached && result.ending == .signalled(SIGTERM), "\(result.stderr)")
    }
}

/// Certificates for one test, removed after it.
func withCertificates(_ body: (Certificates) async throws -> Void) async throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    try await body(try await Certificates(in: folder))
}

/// Runs a test in a home of its own against a server with this script, over TLS that behaves so.
func withSecureDlm(
    _ certificates: Certificates, tls: @escaping @Sendable (Int, TLSBehaviour) -> TLSBehaviour = { $1 },
    _ handler: @escaping FaultServer.Handler, _ body: (SecureSite) async throws -> Void
) async throws {
    let right = TLSBehaviour(certificates.right)
    let server = try FaultServer(tls: { tls($0, right) }, handler)
    defer { server.stop() }
    try await withDlm { sandbox in
        try await body(
            SecureSite(sandbox: sandbox, server: server, authority: certificates.authority, right: right))
    }
}
