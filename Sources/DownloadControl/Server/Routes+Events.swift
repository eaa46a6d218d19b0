import DownloadCore
import DownloadSystem
import Foundation

extension Routes {
    func events(_ request: ControlRequest) async throws -> ControlAnswer {
        let cursor: EventCursor? = try number("since", request)
        guard let slot = streams.take() else {
            return WireError.answer(503, "too many event streams are open", session: identifier)
        }
        let log = try await within(limits.answer) { try await service.log(since: cursor) }
        let (heartbeat, time) = (limits.heartbeat, time)
        return ControlAnswer(
            contentType: "application/x-ndjson", isEndless: true,
            body: .stream { writer in
                defer { withExtendedLifetime(slot) {} }
                try await EventStream(log: log, heartbeat: heartbeat, time: time).write(to: writer)
            })
    }
}

/// Sends a log to one client, with new events as they happen. Events in quick succession are sent together. The log is
/// read only as fast as the client takes the events.
struct EventStream: Sendable {
    let log: AsyncThrowingStream<LogEntry, any Error>
    let heartbeat: Duration
    var time: any TimeSource = SystemTime()

    func write(to writer: AnswerWriter) async throws {
        let lines = LineBuffer()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await fill(lines) }
            group.addTask {
                while true {
                    try await time.sleep(for: heartbeat)
                    lines.appendHeartbeat()
                }
            }
            defer {
                lines.end()
                group.cancelAll()
            }
            while let piece = await lines.take() { try await writer.write(piece) }
        }
    }

    private func fill(_ lines: LineBuffer) async {
        do {
            for try await entry in log { try await lines.append(WireEvent(entry)) }
        } catch {
            let failure = error as? DownloadError ?? .unexpected("\(error)")
            if !(error is CancellationError) { try? await lines.append(WireEvent(failure)) }
        }
        lines.end()
    }
}
