/// A download at a moment: its record, with the progress of this instant.
public struct DownloadSnapshot: Codable, Sendable, Equatable {
    public var record: DownloadRecord
    public var progress: DownloadProgress
    /// Its session lives: it runs, or will when its turn comes.
    public var isAttended = true

    public init(record: DownloadRecord, progress: DownloadProgress? = nil) {
        self.record = record
        self.progress =
            progress
            ?? DownloadProgress(
                id: record.id, name: record.displayName, state: record.state,
                received: record.present.received, total: record.present.total,
                speed: record.state.kind == .running ? record.speed : nil)
    }

    public var id: DownloadID { record.id }
}

/// What a progress line shows.
public struct DownloadProgress: Codable, Sendable, Equatable {
    public var id: DownloadID
    public var name: String
    public var state: DownloadState
    /// Bytes present, those of earlier attempts included.
    public var received: Int64
    public var total: Int64?
    /// Bytes per second, where this process does not measure it itself.
    public var speed: Double?
    /// What is done once all bytes are there; nil before.
    public var phase: Phase?

    public enum Phase: String, Codable, Sendable {
        /// Compared with a checksum, synced, renamed.
        case verifying
        /// The same where there is no checksum.
        case finishing
    }

    public init(
        id: DownloadID, name: String, state: DownloadState, received: Int64, total: Int64?, speed: Double? = nil
    ) {
        self.id = id
        self.name = name
        self.state = state
        self.received = received
        self.total = total
        self.speed = speed
    }
}
