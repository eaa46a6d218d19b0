/// What one transfer cost: URLSessionTaskTransactionMetrics for libcurl. Durations in seconds from its start.
public struct TransferMetrics: Codable, Sendable, Equatable {
    public var remoteAddress: String?
    public var remotePort: Int?
    /// "1.1", "2", ...
    public var httpVersion: String?
    public var reusedConnection = false
    public var nameLookup = 0.0
    public var connect = 0.0
    public var tls = 0.0
    public var firstByte = 0.0
    public var total = 0.0
    /// Bytes of the body as received.
    public var received: Int64 = 0

    package init() {}
}
