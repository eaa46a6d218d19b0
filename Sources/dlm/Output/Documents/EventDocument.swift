import DownloadKit
import Foundation

/// A change of a download: a line of the commands that follow or change downloads, or a line of `dlm events`. Commands
/// that follow downloads print a ``FinishedDocument`` for the end of a download.
struct EventDocument: Document, Equatable {
    var version = 1
    let event: String
    var id: DownloadID?
    var state: String?
    var name: String?
    var url: String?
    var received: Int64?
    var total: Int64?
    var session: String?
    var error: ErrorDocument?
    var waitingFor: String?
    var waitingUntil: Date?
    var offset: Int64?
    var reason: String?
    var priority: Int?
    var rateLimit: Int64?
    // The next three fields are only in lines of `dlm events`.
    var cursor: EventCursor?
    var time: Date?
    var file: String?

    init(_ event: String, _ snapshot: DownloadSnapshot, reason: String? = nil) {
        self.init(event, at: nil)
        (id, name, url) = (snapshot.id, snapshot.record.displayName, snapshot.record.request.url.string)
        (received, total) = (snapshot.progress.received, snapshot.progress.total)
        session = snapshot.record.session
        describe(snapshot.record.state)
        (priority, rateLimit) = (snapshot.record.request.priority, snapshot.record.request.rateLimit)
        self.reason = reason
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
        if event.kind.isEnd { return nil }
        let isRetry = if case .willRetry = event { true } else { false }
        self.init(Self.word(event.kind, isRetry: isRetry), event.snapshot)
        if case .didStart(_, let offset) = event { self.offset = offset }
        if case .didRestart(_, let why) = event { reason = "\(why)" }
    }

    /// Creates the document for a change by another process. Returns nil for the end of a download.
    init?(_ logged: LoggedEvent) {
        if logged.kind.isEnd { return nil }
        self.init(Self.word(logged.kind, isRetry: logged.state?.error != nil), logged)
        state = state ?? logged.kind.rawValue
    }

    private static func word(_ kind: LoggedEvent.Kind, isRetry: Bool) -> String {
        kind == .waiting ? isRetry ? "retry" : "postponed" : kind.rawValue
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
