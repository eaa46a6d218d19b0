/// The behaviour of a server's TLS on one connection. By default it is correct.
package struct TLSBehaviour: Sendable {
    package var identity: Certificates.Identity
    package var handshake = Handshake.completed
    /// The supported versions, from 10 for TLS 1.0 to 13 for TLS 1.3.
    package var versions = 12...13
    /// Whether HTTP/2 is offered and preferred to HTTP/1.1.
    package var offersHTTP2 = false
    /// Whether clients without a certificate are refused. With TLS 1.3 this happens after the client has finished the
    /// handshake.
    package var wantsClientCertificate = false
    /// The authority of accepted client certificates; nil to accept none.
    package var clientAuthority: String?

    package init(_ identity: Certificates.Identity) { self.identity = identity }

    package enum Handshake: String, Sendable, CaseIterable {
        case completed
        /// Bytes that are no TLS record, instead of ServerHello.
        case garbage
        /// An HTTP answer, instead of ServerHello.
        case plainHTTP
        /// The connection ends after ClientHello.
        case closed
        /// RST after ClientHello.
        case reset
        /// The connection ends in the middle of the server's handshake.
        case cut
        /// Silence after ClientHello.
        case stalled
    }

    /// Returns a changed copy.
    package func with(_ change: (inout TLSBehaviour) -> Void) -> TLSBehaviour {
        var copy = self
        change(&copy)
        return copy
    }
}
