/// What the library that moves the bytes can do on this machine.
package struct TransportFeatures: Sendable, Equatable {
    /// Of libcurl.
    package var version: String
    /// The TLS library with its version; nil without TLS.
    package var tls: String?
    /// URL schemes.
    package var protocols: [String] = []
    /// The library that speaks HTTP/2, with its version; nil where none does.
    package var http2: String?
    package var http3: String?
    /// Content codings that it decodes: `gzip`, `br`, `zstd`.
    package var codings: [String] = []
    package var ssh: String?
    /// Names are looked up without holding up other transfers.
    package var resolvesAsynchronously = false
    /// The library that looks names up; nil for the system's resolver.
    package var resolver: String?
    package var hasIPv6 = false
    package var hasIDN = false
    package var hasPublicSuffixes = false
    package var hasUnixSockets = false
    package var hasHTTPSProxy = false
    package var authorities = Authorities()

    package init(version: String) { self.version = version }

    /// The certificate authorities that servers are verified by.
    package struct Authorities: Sendable, Equatable {
        package var file: String?
        /// Of certificates named by their hashes.
        package var folder: String?
        /// The environment's variable that names them; nil for the system's.
        package var origin: String?

        package init(file: String? = nil, folder: String? = nil, origin: String? = nil) {
            self.file = file
            self.folder = folder
            self.origin = origin
        }
    }
}

/// How a transfer came by its connection.
package struct ConnectionTrace: Sendable, Equatable {
    /// Every one that a connection was tried to, with its port, in order.
    package var addresses: [String] = []
    /// Such as `TLSv1.3`; nil without TLS, or when the library does not tell.
    package var tlsVersion: String?
    package var cipher: String?
    /// The fingerprint of the server's key, over SSH.
    package var hostKey: String?

    package init() {}
}
