import Foundation

/// One run of a download's runner, as `dlm show` tells it afterwards.
public struct AttemptRecord: Codable, Sendable, Equatable {
    public var started: Date
    public var ended: Date?
    /// Bytes that this attempt added.
    public var received: Int64 = 0
    public var connections = 1
    public var redirects = 0
    /// Of its first transfer.
    public var metrics: TransferMetrics?
    /// How it ended, in a few words.
    public var outcome: String?

    public init(started: Date) { self.started = started }
}
