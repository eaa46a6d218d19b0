import DownloadCore

/// Reads the store's log for as long as its task runs. If the log breaks off, the log is opened again, beginning with
/// the event that follows the last one.
struct LogFollower: Sendable {
    let service: any DownloadService
    let time: any TimeSource
    /// Reports a problem, as text for the user.
    let report: @Sendable (String) -> Void

    private static let shortestDelay = Duration.seconds(1)
    private static let longestDelay = Duration.seconds(60)

    /// Passes each event to `handle`: first the next events of `log`, then the events of the logs that are opened after
    /// a break.
    /// - Parameter log: A log that is already open; nil to open one.
    func follow(
        _ log: AsyncThrowingStream<LogEntry, any Error>? = nil, _ handle: (LoggedEvent) async -> Void
    ) async {
        var (cursor, delay, log) = (EventCursor?.none, Self.shortestDelay, log)
        while !Task.isCancelled {
            do {
                let opened = if let log { log } else { try await service.log(since: cursor) }
                log = nil
                for try await entry in opened {
                    switch entry {
                    case .event(let event):
                        cursor = event.cursor
                        delay = Self.shortestDelay
                        await handle(event)
                    case .didFinishEvents(let last): cursor = last
                    case .didLoseEvents(let last):
                        cursor = last
                        report("event log: events up to number \(last) were lost, because it keeps the newest only")
                    }
                }
                if Task.isCancelled { return }
                report("event log: it has ended; reading it again in \(delay.components.seconds) s")
            } catch {
                if Task.isCancelled { return }
                report("event log: \(RPCError(error).message); trying again in \(delay.components.seconds) s")
            }
            log = nil
            // Only the end of the server cancels the wait, and the loop ends then.
            do { try await time.sleep(for: delay) } catch { return }
            delay = min(delay * 2, Self.longestDelay)
        }
    }
}
