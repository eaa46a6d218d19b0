import DownloadCore
import Synchronization

/// Sends events to all streams, in the order of the calls. Used from any thread. The streams end with the session.
final class EventBroadcaster: Sendable {
    private struct Listener {
        let stream: AsyncStream<EventGroup>.Continuation
        let hearsAdded: Bool
    }

    private struct State {
        var listeners: [Int: Listener] = [:]
        var nextKey = 0
        var isFinished = false
    }

    private let state = Mutex(State())

    /// Makes a stream of events.
    /// - Parameter hearsAdded: Whether the stream gets `didAdd` events. A list may bring a million of them at once.
    func stream(hearsAdded: Bool = true) -> DownloadEvents {
        let (stream, continuation) = AsyncStream.makeStream(of: EventGroup.self)
        let (key, isFinished) = state.withLock { state in
            defer { state.nextKey += 1 }
            if !state.isFinished {
                state.listeners[state.nextKey] = Listener(stream: continuation, hearsAdded: hearsAdded)
            }
            return (state.nextKey, state.isFinished)
        }
        if isFinished { continuation.finish() }
        continuation.onTermination = { [weak self] _ in self?.forget(key) }
        return DownloadEvents(groups: stream)
    }

    private func forget(_ key: Int) {
        state.withLock { state in _ = state.listeners.removeValue(forKey: key) }
    }

    func send(_ event: DownloadEvent) { send(.events([event])) }

    func send(_ group: EventGroup) {
        state.withLock { state in for listener in state.listeners.values { listener.stream.yield(group) } }
    }

    /// Publishes an event for each new download to the streams that get `didAdd` events.
    func sendAdded(_ records: some Sequence<DownloadRecord>) {
        state.withLock { state in
            let listeners = state.listeners.values.filter(\.hearsAdded)
            if listeners.isEmpty { return }
            let events = records.map { DownloadEvent.didAdd(DownloadSnapshot(record: $0)) }
            if events.isEmpty { return }
            for listener in listeners { listener.stream.yield(.events(events)) }
        }
    }

    func finish() {
        let listeners = state.withLock { state in
            state.isFinished = true
            defer { state.listeners.removeAll() }
            return state.listeners
        }
        for listener in listeners.values { listener.stream.finish() }
    }
}
