import DownloadCore
import Foundation

/// A line of `GET /v1/events`.
struct WireEvent: Codable, Sendable {
    static let finished = "didFinishEvents"
    static let lost = "didLoseEvents"

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
            switch logged.state {
            case .waiting, .paused, .failed: detail = logged.state
            case .queued, .running, .completed, .cancelled, nil: break
            }
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
        return .event(
            LoggedEvent(
                cursor: cursor, time: try WireCoder.date(time), kind: kind, id: id, name: name, url: url,
                session: session, state: try detail ?? plainState(), received: received ?? 0, total: total))
    }

    private func plainState() throws -> DownloadState? {
        switch state {
        case nil: nil
        case "queued": .queued
        case "running": .running
        case "completed": .completed
        case "cancelled": .cancelled
        default: throw WireProblem("a state without its data")
        }
    }
}
