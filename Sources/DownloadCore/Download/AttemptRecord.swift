import Foundation

/// One attempt at a download, from its first request to its end.
public struct AttemptRecord: Codable, Sendable, Equatable {
    /// The time at which the attempt began.
    public var started: Date
    /// The time at which the attempt ended; nil while it runs.
    public var ended: Date?
    /// The number of bytes that this attempt added.
    public var received: Int64 = 0
    /// The number of connections that the attempt used.
    public var connections = 1
    /// The reason why there were not more connections, such as "the server refused 5"; nil if there was none.
    public var connectionReason: String?
    /// The number of redirects that were followed.
    public var redirects = 0
    /// The times and other metrics of the attempt's first transfer.
    public var metrics: TransferMetrics?
    /// The addresses of the server's name that further connections of the attempt used; nil if there were none.
    public var otherAddresses: [String]?
    /// How the attempt ended: "completed", "stopped", or the text of its error.
    public var outcome: String?
    /// The outcome of an attempt that has completed the download.
    package static let completed = "completed"

    package init(started: Date) { self.started = started }
}

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
