/// How the server proves its identity, and the client its own. Files are absolute paths; nil is what was not asked for.
public struct ServerTrustPolicy: Sendable, Equatable {
    /// False trusts every server. It is recorded, and shown wherever the download is.
    public var verifiesServer = true
    /// Certificates, in PEM, of the authorities to trust in place of this machine's.
    public var authorities: String?
    /// Certificates that were revoked, in PEM.
    public var revocations: String?
    /// The client's own certificate, in PEM, perhaps with its key.
    public var certificate: String?
    /// The key of ``certificate``, in PEM, where its file does not hold it.
    public var privateKey: String?
    /// The server's public key: a file, or `sha256//BASE64`, several with `;` between them. Over https alone.
    public var pinnedKey: String?
    /// The oldest version of TLS that is spoken; nil leaves it to libcurl.
    public var minimumTLS: TLSVersion?
    /// The keys of SSH servers, as OpenSSH keeps them; nil: `~/.ssh/known_hosts`.
    public var knownHosts: String?
    /// A key to log in with over SSH, without a passphrase; nil: those of the agent, and the user's own.
    public var sshKey: String?
    /// For `ftp` URLs.
    public var ftpTLS: FTPEncryption?

    /// Makes a policy that trusts the authorities of this machine, or everybody.
    public init(verifiesServer: Bool = true) { self.verifiesServer = verifiesServer }

    /// A version of TLS.
    public enum TLSVersion: String, Codable, Sendable, CaseIterable {
        /// TLS 1.2.
        case tls12 = "1.2"
        /// TLS 1.3.
        case tls13 = "1.3"
    }

    /// TLS begins with a command of the client (RFC 4217).
    public enum FTPEncryption: String, Codable, Sendable {
        /// Where the server has it.
        case attempted
        /// Without TLS there is no transfer.
        case required
    }

    /// By the certificate authorities of this machine.
    public static let system = ServerTrustPolicy()
    /// Not at all.
    public static let insecure = ServerTrustPolicy(verifiesServer: false)

    /// The other one counts, and what it does not name stays.
    mutating func take(_ other: ServerTrustPolicy) {
        verifiesServer = other.verifiesServer
        authorities = other.authorities ?? authorities
        revocations = other.revocations ?? revocations
        certificate = other.certificate ?? certificate
        privateKey = other.privateKey ?? privateKey
        pinnedKey = other.pinnedKey ?? pinnedKey
        minimumTLS = other.minimumTLS ?? minimumTLS
        knownHosts = other.knownHosts ?? knownHosts
        sshKey = other.sshKey ?? sshKey
        ftpTLS = other.ftpTLS ?? ftpTLS
    }
}

extension ServerTrustPolicy: Codable {
    private enum Key: String, CodingKey {
        case verifiesServer, authorities, revocations, certificate, privateKey, pinnedKey, minimumTLS
        case knownHosts, sshKey, ftpTLS
    }

    /// The one word that there was before it could say more.
    private enum Word: String, Codable { case system, insecure }

    public init(from decoder: any Decoder) throws {
        if let container = try? decoder.singleValueContainer(), let word = try? container.decode(Word.self) {
            self.init(verifiesServer: word == .system)
            return
        }
        let values = try decoder.container(keyedBy: Key.self)
        self.init(verifiesServer: try values.decodeIfPresent(Bool.self, forKey: .verifiesServer) ?? true)
        authorities = try values.decodeIfPresent(String.self, forKey: .authorities)
        revocations = try values.decodeIfPresent(String.self, forKey: .revocations)
        certificate = try values.decodeIfPresent(String.self, forKey: .certificate)
        privateKey = try values.decodeIfPresent(String.self, forKey: .privateKey)
        pinnedKey = try values.decodeIfPresent(String.self, forKey: .pinnedKey)
        minimumTLS = try values.decodeIfPresent(TLSVersion.self, forKey: .minimumTLS)
        knownHosts = try values.decodeIfPresent(String.self, forKey: .knownHosts)
        sshKey = try values.decodeIfPresent(String.self, forKey: .sshKey)
        ftpTLS = try values.decodeIfPresent(FTPEncryption.self, forKey: .ftpTLS)
    }

    public func encode(to encoder: any Encoder) throws {
        if self == .system || self == .insecure {
            var container = encoder.singleValueContainer()
            return try container.encode(verifiesServer ? Word.system : .insecure)
        }
        var values = encoder.container(keyedBy: Key.self)
        if !verifiesServer { try values.encode(false, forKey: .verifiesServer) }
        try values.encodeIfPresent(authorities, forKey: .authorities)
        try values.encodeIfPresent(revocations, forKey: .revocations)
        try values.encodeIfPresent(certificate, forKey: .certificate)
        try values.encodeIfPresent(privateKey, forKey: .privateKey)
        try values.encodeIfPresent(pinnedKey, forKey: .pinnedKey)
        try values.encodeIfPresent(minimumTLS, forKey: .minimumTLS)
        try values.encodeIfPresent(knownHosts, forKey: .knownHosts)
        try values.encodeIfPresent(sshKey, forKey: .sshKey)
        try values.encodeIfPresent(ftpTLS, forKey: .ftpTLS)
    }
}
