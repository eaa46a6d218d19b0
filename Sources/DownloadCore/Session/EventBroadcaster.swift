import Foundation
import Synchronization

/// Hands each event to every stream, in the order of the calls, from any thread; a stream ends with the session.
final class EventBroadcaster: Sendable {
    private struct State {
        var streams: [UUID: AsyncStream<DownloadEvent>.Continuation] = [:]
        var isFinished = false
    }

    private let state = Mutex(State())

    func stream() -> AsyncStream<DownloadEvent> {
        let (stream, continuation) = AsyncStream.makeStream(of: DownloadEvent.self)
        let key = UUID()
        let isFinished = state.withLock { state in
            if !state.isFinished { state.streams[key] = continuation }
            return state.isFinished
        }
        if isFinished { continuation.finish() }
        continuation.onTermination = { [weak self] _ in self?.forget(key) }
        return stream
    }

    private func forget(_ key: UUID) {
        state.withLock { state in _ = state.streams.removeValue(forKey: key) }
    }

    func send(_ event: DownloadEvent) {
        state.withLock { state in for stream in state.streams.values { stream.yield(event) } }
    }

    func finish() {
        let streams = state.withLock { state in
            state.isFinished = true
            defer { state.streams.removeAll() }
            return state.streams
        }
        for stream in streams.values { stream.finish() }
    }
}
