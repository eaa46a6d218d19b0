/// How a server does TLS on one connection: as it should unless the fields say otherwise.
package struct TLSBehaviour: Sendable {
    package var identity: Certificates.Identity
    package var handshake = Handshake.completed
    /// From and to, 10 for TLS 1.0 and 13 for 1.3.
    package var versions = 12...13
    /// Offered beside HTTP/1.1, and preferred.
    package var offersHTTP2 = false
    /// Refuses clients without a certificate: over TLS 1.3 after they believe that the handshake is done.
    package var wantsClientCertificate = false
    /// Whose certificates a client must show; nil: nobody's will do.
    package var clientAuthority: String?

    package init(_ identity: Certificates.Identity) { self.identity = identity }

    package enum Handshake: String, Sendable, CaseIterable {
        case completed
        /// Bytes that are no TLS record instead of ServerHello.
        case garbage
        /// An HTTP answer instead of ServerHello.
        case plainHTTP
        /// The connection ends after ClientHello.
        case closed
        /// RST after ClientHello.
        case reset
        /// The connection ends in the middle of what the server answers.
        case cut
        /// Nothing more after ClientHello.
        case stalled
    }

    /// A copy with something changed.
    package func with(_ change: (inout TLSBehaviour) -> Void) -> TLSBehaviour {
        var copy = self
        change(&copy)
        return copy
    }
}
