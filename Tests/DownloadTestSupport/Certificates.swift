import Foundation
import Synchronization

/// A certificate authority for one run of the tests, and its certificates, valid and invalid, for the loopback
/// interface.
package struct Certificates: Sendable {
    package let authority: String
    package let certificate: String
    package let key: String
    private let folder: TemporaryFolder

    /// The certificate and the key that a server presents.
    package struct Identity: Sendable, Equatable {
        package let certificate: String
        package let key: String
    }

    /// The flaw of a certificate.
    package enum Flaw: String, Sendable, CaseIterable {
        case expired, notYetValid, wrongHost, unknownAuthority, selfSigned
    }

    /// The files of an authority and of a valid certificate, for each owner. They are made once, because a start of
    /// `openssl` takes as long as a test.
    private static let made = Mutex<[String: Task<[String: String], any Error>]>([:])

    /// Writes an authority and a valid certificate into the folder.
    /// - Parameter owner: the name of the authority's owner. Each owner has its own authority.
    package init(in folder: TemporaryFolder, of owner: String = "test") async throws {
        let making = Self.made.withLock { made in
            let making = made[owner] ?? Task { try await Self.make() }
            made[owner] = making
            return making
        }
        try self.init(files: try await making.value, folder)
    }

    private static func make() async throws -> [String: String] {
        let folder = try TemporaryFolder()
        let certificates = try Certificates(files: [:], folder)
        try await certificates.makeAuthority("ca")
        try await certificates.sign("server", section: "server", by: "ca")
        return try ["ca.pem", "ca.key", "server.pem", "server.key"].reduce(into: [:]) { files, name in
            files[name] = try String(contentsOfFile: folder(name), encoding: .utf8)
        }
    }

    private init(files: [String: String], _ folder: TemporaryFolder) throws {
        self.folder = folder
        (authority, certificate, key) = (folder("ca.pem"), folder("server.pem"), folder("server.key"))
        try folder.write(Self.configuration(folder), to: "openssl.cnf")
        try folder.write("", to: "issued")
        for (name, text) in files { try folder.write(text, to: name) }
    }

    /// The valid certificate.
    package var right: Identity { Identity(certificate: certificate, key: key) }

    /// Creates a certificate that must not be trusted.
    package func wrong(_ flaw: Flaw) async throws -> Identity {
        let name = flaw.rawValue
        switch flaw {
        case .expired: try await sign(name, from: "20200101000000Z", to: "20200201000000Z")
        case .notYetValid: try await sign(name, from: "20900101000000Z", to: "20910101000000Z")
        case .wrongHost: try await sign(name, section: "elsewhere", by: "ca")
        case .unknownAuthority:
            try await makeAuthority("stranger")
            try await sign(name, section: "server", by: "stranger")
        case .selfSigned: try await sign(name, section: "server", by: nil)
        }
        return Identity(certificate: folder("\(name).pem"), key: folder("\(name).key"))
    }

    /// Creates a revocation list, in PEM, with these certificates of the authority, and returns the path of its file.
    package func revocations(_ revoked: [Identity]) async throws -> String {
        let authority = [
            "ca", "-config", folder("openssl.cnf"), "-name", "dated", "-cert", authority, "-keyfile", folder("ca.key"),
        ]
        for identity in revoked { try await Self.openssl(authority + ["-revoke", identity.certificate]) }
        try await Self.openssl(authority + ["-gencrl", "-crldays", "7", "-out", folder("crl.pem")])
        return folder("crl.pem")
    }

    /// Creates a certificate for a client.
    package func client() async throws -> Identity {
        try await sign("client", section: "client", by: "ca")
        return Identity(certificate: folder("client.pem"), key: folder("client.key"))
    }

    /// Returns the public key in the forms that curl's pins use: its digest, and a file that contains it.
    package func pin(_ identity: Identity) async throws -> (digest: String, file: String) {
        let file = folder("pinned.der")
        try await Self.openssl(["pkey", "-in", identity.key, "-pubout", "-outform", "DER", "-out", file])
        try await Self.openssl(["dgst", "-sha256", "-binary", "-out", folder("pinned.sha256"), file])
        let digest = try Data(contentsOf: URL(fileURLWithPath: folder("pinned.sha256")))
        return ("sha256//" + digest.base64EncodedString(), file)
    }

    private static func configuration(_ folder: TemporaryFolder) -> String {
        """
        [req]
        distinguished_name = name
        [name]
        [authority]
        basicConstraints = critical, CA:TRUE
        keyUsage = critical, keyCertSign, cRLSign
        subjectKeyIdentifier = hash
        [server]
        basicConstraints = critical, CA:FALSE
        subjectAltName = DNS:localhost, IP:127.0.0.1, DNS:example.org, DNS:*.example.org
        extendedKeyUsage = serverAuth
        [client]
        basicConstraints = critical, CA:FALSE
        extendedKeyUsage = clientAuth
        [elsewhere]
        basicConstraints = critical, CA:FALSE
        subjectAltName = DNS:elsewhere.example
        extendedKeyUsage = serverAuth
        [dated]
        database = \(folder("issued"))
        new_certs_dir = \(folder.path)
        default_md = sha256
        policy = anything
        x509_extensions = server
        rand_serial = yes
        unique_subject = no
        [anything]
        commonName = supplied
        """
    }

    private func request(_ name: String, subject: String = "localhost") -> [String] {
        [
            "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-config", folder("openssl.cnf"),
            "-subj", "/CN=\(subject)", "-keyout", folder("\(name).key"),
        ]
    }

    private func makeAuthority(_ name: String) async throws {
        try await Self.openssl(
            request(name, subject: "dlm test authority") + [
                "-x509", "-days", "7", "-extensions", "authority", "-out", folder("\(name).pem"),
            ])
    }

    private func sign(_ name: String, section: String, by authority: String?) async throws {
        let issuer = authority.map { ["-CA", folder("\($0).pem"), "-CAkey", folder("\($0).key")] } ?? []
        try await Self.openssl(
            request(name) + ["-x509", "-days", "7", "-extensions", section, "-out", folder("\(name).pem")] + issuer)
    }

    /// Signs a certificate that is valid only between two given times.
    private func sign(_ name: String, from start: String, to end: String) async throws {
        try await Self.openssl(request(name) + ["-out", folder("\(name).csr")])
        try await Self.openssl([
            "ca", "-batch", "-notext", "-config", folder("openssl.cnf"), "-name", "dated", "-cert", authority,
            "-keyfile", folder("ca.key"), "-startdate", start, "-enddate", end, "-in", folder("\(name).csr"), "-out",
            folder("\(name).pem"),
        ])
    }

    private static func openssl(_ arguments: [String]) async throws {
        try await ChildProcess.succeed(ProcessLaunch("/usr/bin/openssl", arguments))
    }
}
