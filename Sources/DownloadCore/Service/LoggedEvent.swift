import Foundation

/// A position in the store's log of events: the number of the last event that was read.
public typealias EventCursor = Int64

/// A change of a download in the log of the store. The log entry is written once, in order, in the same transaction as
/// the change.
public struct LoggedEvent: Codable, Sendable, Equatable {
    /// What happened.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Kind: String, Codable, Sendable, CaseIterable {
        /// The download is new.
        case added
        /// The download is in the queue again.
        case resumed
        /// An attempt began.
        case started
        /// The running download has fewer bytes than before. Usually the server has a new version of the file, and the
        /// bytes of the old version were deleted.
        case restarted
        /// The download waits for its next attempt, for the network, or for its schedule.
        case waiting
        /// The download has reached this state, or was removed from the store.
        case paused, cancelled, completed, failed, removed
        /// The URL, the priority or the speed limit of the download was changed.
        case changed
    }

    /// The position of the event in the log.
    public var cursor: EventCursor
    /// The time of the event.
    public var time: Date
    /// What happened.
    public var kind: Kind
    /// The number of the download.
    public var id: DownloadID
    /// The name of the file, or a preliminary name until the final one was known.
    public var name: String
    /// The URL of the file.
    public var url: String
    /// The session of the download.
    public var session: String?
    /// The state after the change; nil for `removed`.
    public var state: DownloadState?
    /// The number of bytes that were present.
    public var received: Int64
    /// The size of the file; nil if it was not known.
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

/// An element of the sequence of logged events, which begins with past events and continues with new ones.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum LogEntry: Sendable, Equatable {
    /// Something happened.
    case event(LoggedEvent)
    /// All events from before the call have been delivered. The events that follow are new. This entry comes once.
    case didFinishEvents(EventCursor)
    /// The events up to this cursor were deleted from the log before they could be read. The log keeps only the newest
    /// events.
    case didLoseEvents(upTo: EventCursor)
}

extension LoggedEvent.Kind {
    /// The kind of event that is logged when a download enters this state.
    package init(_ state: DownloadState.Kind) {
        self =
            switch state {
            case .queued: .resumed
            case .running: .started
            case .waiting: .waiting
            case .paused: .paused
            case .completed: .completed
            case .failed: .failed
            case .cancelled: .cancelled
            }
    }

    package var isEnd: Bool { [.completed, .failed, .cancelled].contains(self) }

    /// Whether the download continues only with a command, or not at all.
    package var endsWait: Bool { isEnd || self == .paused || self == .removed }

    /// Whether the download has entered another state, or was removed.
    package var isMove: Bool { ![.added, .restarted, .changed].contains(self) }
}
