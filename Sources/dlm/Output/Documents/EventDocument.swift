import DownloadKit
import Foundation

/// A change of a download: a line of the commands that follow or change downloads, or a line of `dlm events`. Commands
/// that follow downloads print a ``FinishedDocument`` for the end of a download.
struct EventDocument: Document, Equatable {
    var version = 1
    /// The event: `added`, `joined`, `started`, `restarted`, `retry`, `postponed`, `paused`, `resumed`, `cancelled`,
    /// `changed`, `limit`, `removed`, or `unchanged` if there was nothing to do. A line of `dlm events` has a value of
    /// ``LoggedEvent/Kind``, `didFinishEvents` or `didLoseEvents`.
    let event: String
    var id: DownloadID?
    var state: String?
    var name: String?
    var url: String?
    var received: Int64?
    var total: Int64?
    /// The session that runs the download.
    var session: String?
    var error: ErrorDocument?
    var waitingFor: String?
    var waitingUntil: Date?
    /// The offset at which the download starts, in bytes, for `started`.
    var offset: Int64?
    /// The reason, for `restarted` and `unchanged`.
    var reason: String?
    var priority: Int?
    /// The speed limit in bytes per second; nil for no limit.
    var rateLimit: Int64?
    // The next three fields are only in lines of `dlm events`.
    var cursor: EventCursor?
    var time: Date?
    /// The state of a completed file: `there`, `gone` or `changed`.
    var file: String?

    init(_ event: String, _ snapshot: DownloadSnapshot, offset: Int64? = nil, reason: String? = nil) {
        self.init(event, at: nil)
        (id, name, url) = (snapshot.id, snapshot.record.displayName, snapshot.record.request.url.string)
        (received, total) = (snapshot.progress.received, snapshot.progress.total)
        session = snapshot.record.session
        describe(snapshot.record.state)
        (priority, rateLimit) = (snapshot.record.request.priority, snapshot.record.request.rateLimit)
        (self.offset, self.reason) = (offset, reason)
    }

    private init(_ event: String, _ logged: LoggedEvent) {
        self.init(event, at: nil)
        (id, name, url) = (logged.id, logged.name, logged.url)
        (received, total) = (logged.received, logged.total)
        session = logged.session
        if let state = logged.state { describe(state) }
    }

    private init(_ event: String, at cursor: EventCursor?) { (self.event, self.cursor) = (event, cursor) }

    private mutating func describe(_ state: DownloadState) {
        self.state = state.kind.rawValue
        error = state.error.map(ErrorDocument.init)
        (waitingFor, waitingUntil) = state.waiting
    }

    /// Creates the document for a change in this process. Returns nil for the end of a download.
    init?(_ event: DownloadEvent) {
        switch event {
        case .didAdd(let snapshot): self.init("added", snapshot)
        case .didStart(let snapshot, let offset): self.init("started", snapshot, offset: offset)
        case .didRestart(let snapshot, let why): self.init("restarted", snapshot, reason: why)
        case .willRetry(let snapshot, _): self.init("retry", snapshot)
        case .didPostpone(let snapshot): self.init("postponed", snapshot)
        case .didPause(let snapshot): self.init("paused", snapshot)
        case .didResume(let snapshot): self.init("resumed", snapshot)
        case .didRemove(let snapshot): self.init("removed", snapshot)
        case .didChange(let snapshot): self.init("changed", snapshot)
        case .didCancel, .didComplete, .didFail: return nil
        }
    }

    /// Creates the document for a change by another process. Returns nil for the end of a download.
    init?(_ logged: LoggedEvent) {
        switch logged.kind {
        case .waiting: self.init(logged.state?.error == nil ? "postponed" : "retry", logged)
        case .completed, .failed, .cancelled: return nil
        case .added, .resumed, .started, .restarted, .paused, .removed, .changed:
            self.init(logged.kind.rawValue, logged)
        }
        state = state ?? logged.kind.rawValue
    }

    /// Creates a line of `dlm events`.
    init(_ entry: LogEntry, fate: CompletedFileFate? = nil) {
        switch entry {
        case .event(let logged):
            self.init(logged.kind.rawValue, logged)
            (cursor, time, file) = (logged.cursor, logged.time, fate?.rawValue)
        case .didFinishEvents(let cursor): self.init("didFinishEvents", at: cursor)
        case .didLoseEvents(let cursor): self.init("didLoseEvents", at: cursor)
        }
    }
}
