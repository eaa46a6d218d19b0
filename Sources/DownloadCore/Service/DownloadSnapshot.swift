/// A download at one moment: its record, with its progress at that moment.
public struct DownloadSnapshot: Codable, Sendable, Equatable {
    package var record: DownloadRecord
    /// The progress at the moment of the snapshot.
    public var progress: DownloadProgress
    /// Whether the session of the download is alive. False if the download has no session.
    package var isAttended = true

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
    /// The request for the download.
    public var request: DownloadRequest { record.request }
    /// The path of the finished file; nil until its name is known.
    package var path: String? { record.completed?.path ?? record.finalPath }
    /// The last 20 attempts at most, with the newest one at the end.
    public var attempts: [AttemptRecord] { record.attempts }
    /// The session to which the download belongs; nil if there is none.
    public var session: String? { record.session }
}

/// The progress of a download.
public struct DownloadProgress: Codable, Sendable, Equatable {
    /// The number of the download.
    public var id: DownloadID
    /// The name of the file, or a preliminary name until the final one is known.
    public var name: String
    /// The state of the download.
    public var state: DownloadState
    /// The number of bytes that are present, including those of earlier attempts.
    public var received: Int64
    /// The size of the file in bytes; nil until it is known.
    public var total: Int64?
    /// The speed of the last seconds, in bytes per second; nil until it is known.
    public var speed: Double?
    /// The time until all bytes are present; nil while it cannot be estimated.
    public var timeLeft: Duration?
    /// The work that follows when all bytes are present; nil before.
    public var phase: Phase?

    /// The work that follows when all bytes are present.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Phase: String, Codable, Sendable {
        /// The file is compared with a checksum, synced and renamed.
        case verifying
        /// The file is synced and renamed, without a checksum.
        case finishing
    }

    /// The fraction of the file that is present, from 0 to 1; nil until the size is known.
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
