/// A download at one moment: its record, with its progress at that moment.
public struct DownloadSnapshot: Codable, Sendable, Equatable {
    package var record: DownloadRecord
    /// The progress at the moment of the snapshot.
    public var progress: DownloadProgress
    /// Whether the session of the download is alive. False if the download has no session.
    package var isAttended = true
    /// The running connections; nil unless ``DownloadSelection/isDetailed`` asks for them.
    package var activeConnections: [ConnectionProgress]?

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

/// A running connection of a download at one moment.
package struct ConnectionProgress: Codable, Sendable, Equatable {
    /// The origin of the source, such as `https://example.org:443`.
    package var origin: String
    /// The offset of the next byte.
    package var position: Int64
    /// The speed since the last look at this connection, in bytes per second.
    package var speed: Double

    package init(origin: String, position: Int64, speed: Double) {
        (self.origin, self.position, self.speed) = (origin, position, speed)
    }
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
    public var timeLeft: Duration? {
        get { secondsLeft.map { .seconds($0) } }
        set { secondsLeft = newValue.map { $0 / .seconds(1) } }
    }
    /// Stored as a number, because the JSON form of a `Duration` is an array of two integers.
    private var secondsLeft: Double?
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
