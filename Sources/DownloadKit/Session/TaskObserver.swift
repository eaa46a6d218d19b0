import DownloadCore
import Synchronization

/// The observer of one session's downloads, for all ``DownloadTask`` handles. It reads the events of the session once
/// for all handles. While any stream of progress is open, it regularly reads the progress of all downloads together.
final class TaskObserver: Sendable {
    let service: any DownloadService
    private let time: any TimeSource
    private let state = Mutex(State())
    private let reading = Mutex<Task<Void, Never>?>(nil)

    private struct State {
        var listeners = ProgressListeners()
        var events: [DownloadID: [Int: AsyncStream<DownloadEvent>.Continuation]] = [:]
        var nextKey = 0
        var isPolling = false
        var isFinished = false

        mutating func newKey() -> Int {
            defer { nextKey += 1 }
            return nextKey
        }
    }

    /// The time between two reads of the progress of all downloads.
    private static let interval = Duration.milliseconds(200)

    init(_ service: any DownloadService, _ time: any TimeSource) async {
        self.service = service
        self.time = time
        let events = await service.events()
        let task = Task { [weak self] in
            for await group in events.groups { self?.deliver(group) }
            self?.finish()
        }
        reading.withLock { $0 = task }
    }

    // MARK: Streams

    /// Returns the events of one download from now on.
    func events(of id: DownloadID) -> AsyncStream<DownloadEvent> {
        let (stream, continuation) = AsyncStream.makeStream(of: DownloadEvent.self)
        let key = state.withLock { state -> Int? in
            if state.isFinished { return nil }
            let key = state.newKey()
            state.events[id, default: [:]][key] = continuation
            return key
        }
        guard let key else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in self?.forget(id, key) }
        return stream
    }

    private func forget(_ id: DownloadID, _ key: Int) {
        state.withLock { state in
            _ = state.events[id]?.removeValue(forKey: key)
            if state.events[id]?.isEmpty == true { state.events[id] = nil }
        }
    }

    func progress(of id: DownloadID) -> AsyncStream<DownloadProgress> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: DownloadProgress.self, bufferingPolicy: .bufferingNewest(1))
        let key = state.withLock { state -> Int? in
            if state.isFinished { return nil }
            let key = state.newKey()
            state.listeners.add(continuation, key, of: id)
            return key
        }
        guard let key else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in self?.state.withLock { $0.listeners.remove(key, of: id) } }
        Task {
            // If the download was removed or cannot be read, its stream ends without an element.
            guard let snapshot = try? await service.snapshots(.ids([id])).first else { return continuation.finish() }
            continuation.yield(snapshot.progress)
            if snapshot.record.state.kind.isEnded { continuation.finish() }
        }
        poll()
        return stream
    }

    var sessionProgress: AsyncStream<SessionProgress> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: SessionProgress.self, bufferingPolicy: .bufferingNewest(1))
        let key = state.withLock { state -> Int? in
            if state.isFinished { return nil }
            let key = state.newKey()
            state.listeners.ofSession[key] = continuation
            continuation.yield(state.listeners.sum)
            return key
        }
        guard let key else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.listeners.ofSession.removeValue(forKey: key) }
        }
        poll()
        return stream
    }

    // MARK: Delivering

    private func deliver(_ group: EventGroup) {
        // The streams are finished outside of the lock, because their termination handlers take the lock.
        let ended = state.withLock { state -> [AsyncStream<DownloadProgress>.Continuation] in
            var ended: [AsyncStream<DownloadProgress>.Continuation] = []
            for event in group.events {
                for listener in state.events[event.snapshot.id]?.values.map(\.self) ?? [] { listener.yield(event) }
                ended += state.listeners.handle(event)
            }
            return ended
        }
        for continuation in ended { continuation.finish() }
    }

    /// Reads the progress until no stream of progress is open.
    private func poll() {
        let begins = state.withLock { state in
            defer { state.isPolling = true }
            return !state.isPolling
        }
        guard begins else { return }
        Task {
            while isWanted {
                let progress = await service.progress()
                let now = time.now
                state.withLock { $0.listeners.handle(progress, at: now) }
                // This task is never cancelled, so the sleep is never cut short.
                try? await time.sleep(for: Self.interval)
            }
        }
    }

    private var isWanted: Bool {
        state.withLock { state in
            state.isPolling = !state.listeners.isEmpty && !state.isFinished
            return state.isPolling
        }
    }

    // MARK: The end

    private func finish() {
        let (events, progress, session) = state.withLock { state in
            state.isFinished = true
            let all = (
                state.events.values.flatMap(\.values), state.listeners.all, Array(state.listeners.ofSession.values)
            )
            state.events = [:]
            return all
        }
        for continuation in events { continuation.finish() }
        for continuation in progress { continuation.finish() }
        for continuation in session { continuation.finish() }
    }

    /// Waits until every event of a closed session was delivered.
    func waitUntilFinished() async { await reading.withLock(\.self)?.value }

    func close() {
        reading.withLock(\.self)?.cancel()
        finish()
    }
}
