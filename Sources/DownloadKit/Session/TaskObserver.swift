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
        var events = OpenStreams<DownloadEvent>()
        /// The number of streams that were opened so far.
        var opened = 0
        var isPolling = false
        var isFinished = false
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

    /// Opens a stream for a download or, if `id` is nil, for the session.
    /// - Returns: the stream and its continuation; if the session has ended, a stream that has ended, and nil.
    private func open<Element: Sendable>(
        _ streams: any WritableKeyPath<State, OpenStreams<Element>> & Sendable, of id: DownloadID?,
        _ policy: AsyncStream<Element>.Continuation.BufferingPolicy
    ) -> (AsyncStream<Element>, AsyncStream<Element>.Continuation?) {
        let (stream, continuation) = AsyncStream.makeStream(of: Element.self, bufferingPolicy: policy)
        let number = state.withLock { state -> Int? in
            if state.isFinished { return nil }
            state.opened += 1
            state[keyPath: streams][id, state.opened] = continuation
            return state.opened
        }
        guard let number else {
            continuation.finish()
            return (stream, nil)
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0[keyPath: streams][id, number] = nil }
        }
        return (stream, continuation)
    }

    /// Returns the events of one download from now on.
    func events(of id: DownloadID) -> AsyncStream<DownloadEvent> { open(\.events, of: id, .unbounded).0 }

    func progress(of id: DownloadID) -> AsyncStream<DownloadProgress> {
        let (stream, continuation) = open(\.listeners.ofDownloads, of: id, .bufferingNewest(1))
        guard let continuation else { return stream }
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
        let (stream, continuation) = open(\.listeners.ofSession, of: nil, .bufferingNewest(1))
        guard let continuation else { return stream }
        // Under the lock, so that no newer sum comes before this one.
        state.withLock { _ = continuation.yield($0.listeners.sum) }
        poll()
        return stream
    }

    // MARK: Delivering

    private func deliver(_ group: EventGroup) {
        // The streams are finished outside of the lock, because their termination handlers take the lock.
        let ended = state.withLock { state in
            var ended: [OpenStreams<DownloadProgress>.Continuation] = []
            for event in group.events {
                state.events.yield(event, to: event.snapshot.id)
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
        let ended = state.withLock { state in
            state.isFinished = true
            return state
        }
        ended.events.finish()
        ended.listeners.ofDownloads.finish()
        ended.listeners.ofSession.finish()
    }

    /// Waits until every event of a closed session was delivered.
    func waitUntilFinished() async { await reading.withLock(\.self)?.value }

    func close() {
        reading.withLock(\.self)?.cancel()
        finish()
    }
}
