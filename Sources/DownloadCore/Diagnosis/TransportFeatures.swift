/// The abilities of the transfer library on this machine.
package struct TransportFeatures: Sendable, Equatable {
    /// The version of libcurl.
    package var version: String
    /// The TLS library with its version; nil without TLS.
    package var tls: String?
    /// The supported URL schemes.
    package var protocols: [String] = []
    /// The library for HTTP/2 with its version; nil if HTTP/2 is not supported.
    package var http2: String?
    package var http3: String?
    /// The supported content codings: `gzip`, `br`, `zstd`.
    package var codings: [String] = []
    package var ssh: String?
    /// Whether name lookups do not block other transfers.
    package var resolvesAsynchronously = false
    /// The library for name lookups; nil for the system's resolver.
    package var resolver: String?
    package var hasIPv6 = false
    package var hasIDN = false
    package var hasPublicSuffixes = false
    package var hasHTTPSProxy = false
    package var authorities = Authorities()

    package init(version: String) { self.version = version }

    /// The certificate authorities that servers are verified by.
    package struct Authorities: Sendable, Equatable {
        package var file: String?
        /// The folder with certificates whose file names are their hashes.
        package var folder: String?
        /// The environment variable with the path; nil for the authorities of the system.
        package var origin: String?

        package init(file: String? = nil, folder: String? = nil, origin: String? = nil) {
            self.file = file
            self.folder = folder
            self.origin = origin
        }
    }
}

/// The connection of a transfer, and how it was opened.
package struct ConnectionTrace: Sendable, Equatable {
    /// The addresses that were tried, with their ports, in order.
    package var addresses: [String] = []
    /// The TLS version, such as `TLSv1.3`; nil without TLS, or if the library does not report it.
    package var tlsVersion: String?
    package var cipher: String?
    /// The fingerprint of the SSH server's key.
    package var hostKey: String?

    package init() {}
}
