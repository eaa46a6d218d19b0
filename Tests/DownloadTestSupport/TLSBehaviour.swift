/// How a server does TLS on one connection. The defaults are those of a well-behaved server.
package struct TLSBehaviour: Sendable {
    package var identity: Certificates.Identity
    package var handshake = Handshake.completed
    /// The range of TLS versions: 10 means TLS 1.0, 13 means TLS 1.3.
    package var versions = 12...13
    /// Whether HTTP/2 is offered beside HTTP/1.1, and preferred.
    package var offersHTTP2 = false
    /// Whether clients without a certificate are refused. With TLS 1.3 they learn this only after they believe that the
    /// handshake is done.
    package var wantsClientCertificate = false
    /// The authority of the certificates that clients must present. Nil means that no certificate is accepted.
    package var clientAuthority: String?

    package init(_ identity: Certificates.Identity) { self.identity = identity }

    package enum Handshake: String, Sendable, CaseIterable {
        case completed
        /// The server sends bytes that are not a TLS record instead of ServerHello.
        case garbage
        /// The server sends an HTTP answer instead of ServerHello.
        case plainHTTP
        /// The server closes the connection after ClientHello.
        case closed
        /// The server resets the connection (RST) after ClientHello.
        case reset
        /// The connection ends in the middle of the server's answer.
        case cut
        /// The server sends nothing after ClientHello.
        case stalled
    }

    /// Returns a changed copy.
    package func with(_ change: (inout TLSBehaviour) -> Void) -> TLSBehaviour {
        var copy = self
        change(&copy)
        return copy
    }
}
