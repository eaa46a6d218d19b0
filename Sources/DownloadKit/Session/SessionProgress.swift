import DownloadCore

/// The progress of all downloads of a session together.
public struct SessionProgress: Sendable, Equatable {
    /// The number of bytes on disk.
    public var received: Int64 = 0
    /// The sum of the known sizes, in bytes.
    public var total: Int64 = 0
    /// The number of downloads that have begun and have not ended.
    public var active = 0
    /// The number of downloads that have completed.
    public var completed = 0
    /// The speed of the last seconds, in bytes per second; nil until it is known.
    public var speed: Double?

    /// The fraction of the bytes that are on disk, from 0 to 1; nil while no size is known.
    public var fraction: Double? { total > 0 ? min(1, Double(received) / Double(total)) : nil }
}
