import DownloadCore
import Foundation

/// A line of `GET /v1/events`.
struct WireEvent: Encodable, Sendable {
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
}
