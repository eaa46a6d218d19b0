import DownloadCore
import Foundation

extension ControlClient {
    package func log(since cursor: EventCursor?) async throws -> AsyncThrowingStream<LogEntry, any Error> {
        try await readLog(cursor)
    }

    package func events() async -> DownloadEvents {
        let (groups, end) = AsyncStream.makeStream(of: EventGroup.self)
        let log = try? await log(since: nil)
        let reading = Task {
            // The log ends with an error if the session is gone, which is the end of its events.
            if let log { try? await forward(log, to: end) }
            end.finish()
        }
        end.onTermination = { _ in reading.cancel() }
        return DownloadEvents(groups: groups)
    }

    /// Forwards the events of this session, each with a snapshot of its download in the state that the event reports.
    private func forward(
        _ log: AsyncThrowingStream<LogEntry, any Error>, to events: AsyncStream<EventGroup>.Continuation
    ) async throws {
        for try await case .event(let logged) in log where logged.session == nil || logged.session == identifier {
            guard let snapshot = await logged.snapshot(self), let event = DownloadEvent(logged, of: snapshot) else {
                continue
            }
            events.yield(.events([event]))
        }
    }
}

extension LoggedEvent {
    /// Returns the current download, with the state that the event reports. If the download no longer exists, returns
    /// a snapshot of what the event contains.
    fileprivate func snapshot(_ client: ControlClient) async -> DownloadSnapshot? {
        let current = kind == .removed ? nil : try? await client.snapshots(.ids([id])).first
        if let current {
            guard let state, current.record.state != state else { return current }
            var record = current.record
            record.state = state
            return DownloadSnapshot(record: record)
        }
        guard case .success(let parsed) = SourceURL.parse(url) else { return nil }
        var record = DownloadRecord(
            id: id, request: DownloadRequest(url: parsed.url, destination: Destination(folder: "/")),
            state: state ?? .cancelled, created: time)
        record.fileName = name
        record.session = session
        record.resume.total = total
        return DownloadSnapshot(record: record)
    }
}
