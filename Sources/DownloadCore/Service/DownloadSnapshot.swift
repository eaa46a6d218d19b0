/// A download at a moment: its record, with the progress of this instant.
public struct DownloadSnapshot: Codable, Sendable, Equatable {
    package var record: DownloadRecord
    /// The bytes that are there at this moment.
    public var progress: DownloadProgress
    /// True while a live session runs the download, or will when its turn comes.
    public var isAttended = true

    package init(record: DownloadRecord, progress: DownloadProgress? = nil) {
        self.record = record
        self.progress =
            progress
            ?? DownloadProgress(
                id: record.id, name: record.displayName, state: record.state,
                received: record.present.received, total: record.present.total,
                speed: record.state.kind == .running ? record.speed : nil)
    }

    /// The number of the download.
    public var id: DownloadID { record.id }
    /// The state of the download.
    public var state: DownloadState { progress.state }
    /// What was asked for.
    public var request: DownloadRequest { record.request }
    /// The path of the finished file, as soon as its name is known.
    public var path: String? { record.completed?.path ?? record.finalPath }
    /// The last attempts, the newest last; at most 20.
    public var attempts: [AttemptRecord] { record.attempts }
    /// The session that runs the download, or will; nil for none.
    public var session: String? { record.session }
}

/// How far a download is.
public struct DownloadProgress: Codable, Sendable, Equatable {
    /// The number of the download.
    public var id: DownloadID
    /// The name of the file, or what is known of it so far.
    public var name: String
    /// The state of the download.
    public var state: DownloadState
    /// The bytes that are there, those of earlier attempts included.
    public var received: Int64
    /// The size of the file in bytes; nil until it is known.
    public var total: Int64?
    /// The speed of the last seconds, in bytes per second; nil until it is known.
    public var speed: Double?
    /// The time until all bytes are there, in seconds; nil while it cannot be told.
    public var timeLeft: Double?
    /// What is done once all bytes are there; nil before.
    public var phase: Phase?

    /// What is done once all bytes are there.
    public enum Phase: String, Codable, Sendable {
        /// Compared with a checksum, synced, renamed.
        case verifying
        /// The same where there is no checksum.
        case finishing
    }

    /// The part of the file that is there, from 0 to 1; nil until the size is known.
    public var fraction: Double? {
        guard let total else { return nil }
        return total > 0 ? min(1, Double(received) / Double(total)) : 1
    }

    package init(
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
