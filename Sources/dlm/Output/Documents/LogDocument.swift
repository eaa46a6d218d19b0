import DownloadKit
import Foundation

/// A line of `dlm events`.
struct LogDocument: Document, Equatable {
    var version = 1
    let cursor: EventCursor
    /// A value of ``LoggedEvent/Kind``, `didFinishEvents` or `didLoseEvents`.
    let event: String
    let time: Date?
    let id: DownloadID?
    let name: String?
    let url: String?
    let session: String?
    let state: String?
    let received: Int64?
    let total: Int64?
    let error: ErrorDocument?
    let waitingFor: String?
    let waitingUntil: Date?
    /// What became of the file of a completed download: `there`, `gone` or `changed`.
    let file: String?

    init(_ entry: LogEntry, fate: CompletedFileFate? = nil) {
        switch entry {
        case .event(let event): self.init(event, fate)
        case .didFinishEvents(let cursor): self.init("didFinishEvents", cursor)
        case .didLoseEvents(let cursor): self.init("didLoseEvents", cursor)
        }
    }

    private init(_ logged: LoggedEvent, _ fate: CompletedFileFate?) {
        file = fate?.rawValue
        cursor = logged.cursor
        event = logged.kind.rawValue
        time = logged.time
        id = logged.id
        name = logged.name
        url = logged.url
        session = logged.session
        state = logged.state?.kind.rawValue
        received = logged.received
        total = logged.total
        error = logged.state?.error.map(ErrorDocument.init)
        (waitingFor, waitingUntil) = logged.state?.waiting ?? (nil, nil)
    }

    private init(_ event: String, _ cursor: EventCursor) {
        self.event = event
        self.cursor = cursor
        (time, id, name, url, session, state, received, total, error) = (nil, nil, nil, nil, nil, nil, nil, nil, nil)
        (waitingFor, waitingUntil, file) = (nil, nil, nil)
    }
}
