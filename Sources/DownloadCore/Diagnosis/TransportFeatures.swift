/// What the library that moves the bytes can do on this machine.
public struct TransportFeatures: Sendable, Equatable {
    /// Of libcurl.
    public var version: String
    /// The TLS library with its version; nil without TLS.
    public var tls: String?
    /// URL schemes.
    public var protocols: [String] = []
    /// The library that speaks HTTP/2, with its version; nil where none does.
    public var http2: String?
    public var http3: String?
    /// Content codings that it decodes: `gzip`, `br`, `zstd`.
    public var codings: [String] = []
    public var ssh: String?
    /// Names are looked up without holding up other transfers.
    public var resolvesAsynchronously = false
    /// The library that looks names up; nil for the system's resolver.
    public var resolver: String?
    public var hasIPv6 = false
    public var hasIDN = false
    public var hasPublicSuffixes = false
    public var hasUnixSockets = false
    public var hasHTTPSProxy = false
    public var authorities = Authorities()

    public init(version: String) { self.version = version }

    /// The certificate authorities that servers are verified by.
    public struct Authorities: Sendable, Equatable {
        public var file: String?
        /// Of certificates named by their hashes.
        public var folder: String?
        /// The environment's variable that names them; nil for the system's.
        public var origin: String?

        public init(file: String? = nil, folder: String? = nil, origin: String? = nil) {
            self.file = file
            self.folder = folder
            self.origin = origin
        }
    }
}

/// How a transfer came by its connection.
public struct ConnectionTrace: Sendable, Equatable {
    /// Every one that a connection was tried to, with its port, in order.
    public var addresses: [String] = []
    /// Such as `TLSv1.3`; nil without TLS, or when the library does not tell.
    public var tlsVersion: String?
    public var cipher: String?
    /// The fingerprint of the server's key, over SSH.
    public var hostKey: String?

    public init() {}
}
