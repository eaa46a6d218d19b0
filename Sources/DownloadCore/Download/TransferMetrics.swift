/// The metrics of one transfer: the counterpart of `URLSessionTaskTransactionMetrics`. Times are in seconds from the
/// start of the transfer.
public struct TransferMetrics: Codable, Sendable, Equatable {
    /// The address of the server, or of the proxy.
    public var remoteAddress: String?
    /// The port of the server, or of the proxy.
    public var remotePort: Int?
    /// The version of HTTP, such as "1.1" or "2".
    public var httpVersion: String?
    /// The status code of the answer, over HTTP.
    public var status: Int?
    /// Whether the transfer used the connection of an earlier transfer.
    public var reusedConnection = false
    /// The time at which the name was resolved.
    public var nameLookup = 0.0
    /// The time at which the connection was established.
    public var connect = 0.0
    /// The time at which the TLS handshake was complete.
    public var tls = 0.0
    /// The time at which the first byte of the answer came.
    public var firstByte = 0.0
    /// The time at which the transfer ended.
    public var total = 0.0
    /// The number of bytes of the body that the transfer delivered. If dlm asked for a compressed answer, these are the
    /// decoded bytes.
    public var received: Int64 = 0

    package init() {}
}
