import DownloadCore
import Foundation

/// A line of `GET /v1/events`.
struct WireEvent: Codable, Sendable {
    static let finished = "didFinishEvents"
    static let lost = "didLoseEvents"
    private static let statesWithoutData: [DownloadState] = [.queued, .running, .completed, .cancelled]

    var version = WireCoder.version
    var cursor: EventCursor?
    var time: String?
    /// A `LoggedEvent.Kind`, ``finished`` or ``lost``; nil if the stream ends with an error.
    var event: String?
    var id: DownloadID?
    var name: String?
    var url: String?
    var session: String?
    var state: String?
    var received: Int64?
    var total: Int64?
    var error: WireError?
    /// The state with its data, for a state that has data.
    var detail: DownloadState?

    init(_ entry: LogEntry) {
        switch entry {
        case .didFinishEvents(let cursor):
            self.cursor = cursor
            event = Self.finished
        case .didLoseEvents(let cursor):
            self.cursor = cursor
            event = Self.lost
        case .event(let logged):
            cursor = logged.cursor
            time = WireCoder.text(logged.time)
            event = logged.kind.rawValue
            id = logged.id
            name = logged.name
            url = logged.url
            session = logged.session
            state = logged.state?.kind.rawValue
            received = logged.received
            total = logged.total
            error = logged.state?.error.map { WireError($0) }
            detail = logged.state.flatMap { Self.statesWithoutData.contains($0) ? nil : $0 }
        }
    }

    init(_ error: DownloadError) { self.error = WireError(error) }

    /// Returns the log entry. Returns nil for an unknown kind of event, because a newer session may have more kinds.
    func entry() throws -> LogEntry? {
        guard let cursor, let event else { throw WireProblem("an event without a number or name") }
        if event == Self.finished { return .didFinishEvents(cursor) }
        if event == Self.lost { return .didLoseEvents(upTo: cursor) }
        guard let kind = LoggedEvent.Kind(rawValue: event) else { return nil }
        guard let id, let name, let url, let time else { throw WireProblem("an incomplete event") }
        let state = detail ?? Self.statesWithoutData.first { $0.kind.rawValue == self.state }
        if state == nil, self.state != nil { throw WireProblem("a state without its data") }
        return .event(
            LoggedEvent(
                cursor: cursor, time: try WireCoder.date(time), kind: kind, id: id, name: name, url: url,
                session: session, state: state, received: received ?? 0, total: total))
    }
}
