/// The rules for how the server proves its identity to dlm, and dlm to the server. Files are absolute paths. A nil
/// value means that the user gave none.
public struct ServerTrustPolicy: Sendable, Equatable {
    /// Whether the server must prove its identity. False (`--insecure`) is recorded, and shown wherever the download is
    /// shown.
    public var verifiesServer = true
    /// A file with certificates, in PEM, of the authorities to trust instead of the system's authorities.
    public var authorities: String?
    /// A file with the certificate revocation lists, in PEM.
    public var revocations: String?
    /// A file with the client's own certificate, in PEM. The file may contain the key, too.
    public var certificate: String?
    /// A file with the key of ``certificate``, in PEM, if the certificate's file does not contain it.
    public var privateKey: String?
    /// The server's public key, for https only. Either a file, or `sha256//BASE64`, where `;` separates several keys.
    public var pinnedKey: String?
    /// The oldest version of TLS that is accepted; nil for libcurl's default.
    public var minimumTLS: TLSVersion?
    /// The file with the keys of SSH servers, in OpenSSH's format. Nil for `~/.ssh/known_hosts`.
    public var knownHosts: String?
    /// The file with the key for SSH logins, without a passphrase. Nil for the keys of the agent and the user's default
    /// keys.
    public var sshKey: String?
    /// The encryption of connections to `ftp` URLs.
    package var ftpTLS: FTPEncryption?
    /// True for a request from the network: the SSH keys and the SSH agent of this machine's user are not used.
    package var refusesOwnLogins: Bool?

    /// Creates a policy that trusts the authorities of this machine, or, if `verifiesServer` is false, every server.
    public init(verifiesServer: Bool = true) { self.verifiesServer = verifiesServer }

    /// A version of TLS.
    public enum TLSVersion: String, Codable, Sendable, CaseIterable {
        /// TLS 1.2.
        case tls12 = "1.2"
        /// TLS 1.3.
        case tls13 = "1.3"
    }

    /// The encryption of FTP connections. The client begins TLS by a command (RFC 4217).
    package enum FTPEncryption: String, Codable, Sendable {
        /// TLS is used if the server supports it.
        case attempted
        /// Without TLS there is no transfer.
        case required
    }

    /// The policy that verifies servers with the system's certificate authorities.
    public static let system = ServerTrustPolicy()
    /// The policy that does not verify servers.
    public static let insecure = ServerTrustPolicy(verifiesServer: false)

    /// Applies another policy. Values that the other policy does not have stay unchanged.
    mutating func take(_ other: ServerTrustPolicy) {
        verifiesServer = other.verifiesServer
        replace(
            in: &self, with: other, \.authorities, \.revocations, \.certificate, \.privateKey, \.pinnedKey,
            \.minimumTLS, \.knownHosts, \.sshKey, \.ftpTLS, \.refusesOwnLogins)
    }
}

extension ServerTrustPolicy: Codable {
    public init(from decoder: any Decoder) throws {
        self.init()
        let values = try decoder.container(keyedBy: DocumentKey.self)
        for field in Self.documentFields { try field.read(into: &self, from: values) }
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: DocumentKey.self)
        for field in Self.documentFields { try field.write(self, unless: .system, to: &values) }
    }

    private static let documentFields: [DocumentField<ServerTrustPolicy>] = [
        DocumentField("verifiesServer", \.verifiesServer),
        DocumentField("authorities", \.authorities),
        DocumentField("revocations", \.revocations),
        DocumentField("certificate", \.certificate),
        DocumentField("privateKey", \.privateKey),
        DocumentField("pinnedKey", \.pinnedKey),
        DocumentField("minimumTLS", \.minimumTLS),
        DocumentField("knownHosts", \.knownHosts),
        DocumentField("sshKey", \.sshKey),
        DocumentField("ftpTLS", \.ftpTLS),
        DocumentField("refusesOwnLogins", \.refusesOwnLogins),
    ]
}
