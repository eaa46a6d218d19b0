/// What one transfer cost: URLSessionTaskTransactionMetrics for libcurl. Durations in seconds from its start.
public struct TransferMetrics: Codable, Sendable, Equatable {
    /// The address of the server, or of the proxy.
    public var remoteAddress: String?
    /// The port of the server, or of the proxy.
    public var remotePort: Int?
    /// "1.1", "2", ...
    public var httpVersion: String?
    /// The status code of the answer, over HTTP.
    public var status: Int?
    /// True when the connection was there from an earlier transfer.
    public var reusedConnection = false
    /// When the address of the name was known.
    public var nameLookup = 0.0
    /// When the connection was there.
    public var connect = 0.0
    /// When TLS was ready.
    public var tls = 0.0
    /// When the first byte of the answer came.
    public var firstByte = 0.0
    /// When the transfer was over.
    public var total = 0.0
    /// Bytes of the body as received.
    public var received: Int64 = 0

    package init() {}
}
