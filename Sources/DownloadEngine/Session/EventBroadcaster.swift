import DownloadCore
import Synchronization

/// Sends events to all streams, in the order of the calls. Used from any thread. The streams end with the session.
final class EventBroadcaster: Sendable {
    private struct State {
        var listeners: [Int: AsyncStream<EventGroup>.Continuation] = [:]
        var nextKey = 0
        var isFinished = false
    }

    private let state = Mutex(State())

    func stream() -> DownloadEvents {
        let (stream, continuation) = AsyncStream.makeStream(of: EventGroup.self)
        let (key, isFinished) = state.withLock { state in
            defer { state.nextKey += 1 }
            if !state.isFinished { state.listeners[state.nextKey] = continuation }
            return (state.nextKey, state.isFinished)
        }
        if isFinished { continuation.finish() }
        continuation.onTermination = { [weak self] _ in self?.state.withLock { $0.listeners[key] = nil } }
        return DownloadEvents(groups: stream)
    }

    func send(_ event: DownloadEvent) { send(.events([event])) }

    func send(_ group: EventGroup) {
        state.withLock { state in for listener in state.listeners.values { listener.yield(group) } }
    }

    func finish() {
        let listeners = state.withLock { state in
            state.isFinished = true
            defer { state.listeners.removeAll() }
            return state.listeners
        }
        for listener in listeners.values { listener.finish() }
    }
}
