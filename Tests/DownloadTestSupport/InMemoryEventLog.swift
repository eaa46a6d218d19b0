import DownloadCore
import Foundation

/// The newest events of an ``InMemoryDownloadStore``.
struct InMemoryEventLog {
    private var events: [LoggedEvent] = []
    private var last: EventCursor = 0

    private static let capacity = 10_000

    var bounds: (dropped: EventCursor, last: EventCursor) { (last - EventCursor(events.count), last) }

    func events(after cursor: EventCursor, limit: Int) -> [LoggedEvent] {
        let seen = max(0, min(cursor, last) - bounds.dropped)
        return Array(events.dropFirst(Int(seen)).prefix(max(0, limit)))
    }

    mutating func drop(keeping count: Int) {
        events.removeFirst(max(0, events.count - max(0, count)))
    }

    /// Logs what has changed since `old`: first the state, then the request. If `old` is nil, logs an addition.
    mutating func note(_ record: DownloadRecord, after old: DownloadRecord?, at time: Date) {
        guard let old else { return append(.added, record, time) }
        let (before, now) = (old.request, record.request)
        let isChanged = (before.url, before.priority, before.rateLimit) != (now.url, now.priority, now.rateLimit)
        var unmoved = record
        unmoved.request.url = old.request.url
        if old.state.kind != record.state.kind {
            append(LoggedEvent.Kind(record.state.kind), unmoved, time, session: record.session ?? old.session)
        } else if record.state == .running, record.received < old.received {
            append(.restarted, unmoved, time)
        }
        if isChanged { append(.changed, record, time) }
    }

    mutating func noteRemoval(of old: DownloadRecord, at time: Date) {
        append(.removed, old, time, session: old.session)
    }

    private mutating func append(
        _ kind: LoggedEvent.Kind, _ record: DownloadRecord, _ time: Date, session: String? = nil
    ) {
        let progress = DownloadSnapshot(record: record).progress
        last += 1
        events.append(
            LoggedEvent(
                cursor: last, time: time, kind: kind, id: record.id, name: progress.name,
                url: record.request.url.string, session: session ?? record.session,
                state: kind == .removed ? nil : record.state, received: progress.received, total: progress.total))
        // Old events are dropped rarely, so that dropping them costs little.
        if events.count >= 2 * Self.capacity { drop(keeping: Self.capacity) }
    }
}
