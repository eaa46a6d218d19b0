import Foundation

/// A place in the store's log of events: the number of the last event that was seen.
public typealias EventCursor = Int64

/// A change of a download as the store remembers it: written in the transaction that made the change, in order, once.
public struct LoggedEvent: Codable, Sendable, Equatable {
    /// What happened.
    public enum Kind: String, Codable, Sendable, CaseIterable {
        /// The download is new.
        case added
        /// Back in the queue.
        case resumed
        /// An attempt began.
        case started
        /// The remote has a new version: what was there of the old one was dropped.
        case restarted
        /// A failure that may pass; the next attempt follows.
        case waiting
        /// The download came to this state, or was forgotten.
        case paused, cancelled, completed, failed, removed
        /// Its address, priority or rate limit.
        case changed
    }

    /// The place of the event in the log.
    public var cursor: EventCursor
    /// When it happened.
    public var time: Date
    /// What happened.
    public var kind: Kind
    /// The number of the download.
    public var id: DownloadID
    /// The name of the file, as far as it was known.
    public var name: String
    /// The address of the file.
    public var url: String
    /// The session that it belonged to.
    public var session: String?
    /// The state after the change, with its data; nil for `removed`.
    public var state: DownloadState?
    /// Bytes present then.
    public var received: Int64
    /// The size of the file; nil where it was not known.
    public var total: Int64?

    package init(
        cursor: EventCursor, time: Date, kind: Kind, id: DownloadID, name: String, url: String,
        session: String? = nil, state: DownloadState? = nil, received: Int64 = 0, total: Int64? = nil
    ) {
        self.cursor = cursor
        self.time = time
        self.kind = kind
        self.id = id
        self.name = name
        self.url = url
        self.session = session
        self.state = state
        self.received = received
        self.total = total
    }
}

/// An element of the sequence of past and present events.
public enum LogEntry: Sendable, Equatable {
    /// Something happened.
    case event(LoggedEvent)
    /// Everything that happened before the call has been delivered; what follows happens now. Once, after the replay.
    case didFinishEvents(EventCursor)
    /// The events up to this one are older than the log: it keeps the newest.
    case didLoseEvents(upTo: EventCursor)
}
