import DownloadCore
import DownloadSystem

/// Reads the store's log, which has the events of all sessions. Returns first the existing events, then new ones. Used
/// by one task at a time.
package actor EventLogReader {
    private let store: any DownloadStore
    private let time: any TimeSource
    private let end: @Sendable () -> (any Error)?
    private var cursor: EventCursor
    private var waiting: ArraySlice<LogEntry> = []
    /// The last event that existed when reading began. Nil after all events up to this one were returned.
    private var replayEnd: EventCursor?

    private static let batch = 500
    /// The pause between two reads of a log without new events. Other processes write to the log too, and do not notify
    /// this process.
    private static let interval = Duration.milliseconds(100)

    /// Begins to read the log.
    /// - Parameters:
    ///   - cursor: The event after which reading begins. Nil to begin with new events.
    ///   - end: Returns an error if no more events are written. It is thrown after the last event was returned.
    package init(
        store: any DownloadStore, since cursor: EventCursor?, time: any TimeSource = SystemTime(),
        end: @escaping @Sendable () -> (any Error)? = { nil }
    ) async throws {
        self.store = store
        self.time = time
        self.end = end
        let bounds = try await store.eventBounds()
        let start = min(cursor ?? bounds.last, bounds.last)
        self.cursor = start
        replayEnd = bounds.last
        if start < bounds.dropped {
            waiting = [.didLoseEvents(upTo: bounds.dropped)]
            self.cursor = bounds.dropped
        }
    }

    /// Returns the next entry. Nil if the store is closed or the reader is cancelled.
    package func next() async throws -> LogEntry? {
        while waiting.isEmpty {
            if Task.isCancelled { return nil }
            // Before the read, so that the read finds the last events.
            let end = end()
            do {
                try await read()
            } catch DownloadError.sessionUnavailable(.shuttingDown) {
                return nil
            }
            guard waiting.isEmpty else { break }
            if let end { throw end }
            // Only cancellation ends the pause early.
            try? await time.sleep(for: Self.interval)
        }
        return waiting.popFirst()
    }

    private func read() async throws {
        let events = try await store.events(after: cursor, limit: Self.batch)
        if let first = events.first, first.cursor > cursor + 1 {
            // A gap in the numbers means that events were dropped since the last look.
            let dropped = min(try await store.eventBounds().dropped, first.cursor - 1)
            if dropped > cursor {
                finishReplay(before: dropped)
                waiting.append(.didLoseEvents(upTo: dropped))
                cursor = dropped
            }
        }
        for event in events {
            finishReplay(before: event.cursor)
            waiting.append(.event(event))
            cursor = event.cursor
        }
        if events.count < Self.batch { finishReplay(before: .max) }
    }

    private func finishReplay(before next: EventCursor) {
        guard let end = replayEnd, next > end else { return }
        waiting.append(.didFinishEvents(max(cursor, end)))
        replayEnd = nil
    }
}
