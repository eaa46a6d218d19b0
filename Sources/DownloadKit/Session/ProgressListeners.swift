import DownloadCore

/// The progress streams of one session, with the progress of its downloads and the sums for the whole session. All
/// access must be under a lock.
struct ProgressListeners {
    private struct Meter {
        var speed = SpeedMeter()
        var timeLeft = TimeLeftMeter()
    }

    private typealias Continuation = AsyncStream<DownloadProgress>.Continuation

    private var ofDownloads: [DownloadID: [Int: AsyncStream<DownloadProgress>.Continuation]] = [:]
    var ofSession: [Int: AsyncStream<SessionProgress>.Continuation] = [:]
    private var meters: [DownloadID: Meter] = [:]
    private var sessionSpeed = SpeedMeter()
    private var start: ContinuousClock.Instant?
    /// The number of bytes of completed downloads.
    private var finished: Int64 = 0
    private var completed = 0
    /// The progress of downloads that have begun and have not ended.
    private var active: [DownloadID: DownloadProgress] = [:]

    var isEmpty: Bool { ofDownloads.isEmpty && ofSession.isEmpty }
    var all: [AsyncStream<DownloadProgress>.Continuation] { ofDownloads.values.flatMap(\.values) }

    mutating func add(_ continuation: AsyncStream<DownloadProgress>.Continuation, _ key: Int, of id: DownloadID) {
        ofDownloads[id, default: [:]][key] = continuation
    }

    mutating func remove(_ key: Int, of id: DownloadID) {
        _ = ofDownloads[id]?.removeValue(forKey: key)
        if ofDownloads[id]?.isEmpty == true { ofDownloads[id] = nil }
    }

    /// Sends the progress after a change of state to the streams.
    /// - Returns: The streams that end with this event.
    mutating func handle(_ event: DownloadEvent) -> [AsyncStream<DownloadProgress>.Continuation] {
        let snapshot = event.snapshot
        var ended: [AsyncStream<DownloadProgress>.Continuation] = []
        if event.kind.isEnd || event.kind == .removed {
            active[snapshot.id] = nil
            meters[snapshot.id] = nil
            if event.kind == .completed {
                completed += 1
                finished += snapshot.progress.received
            }
            ended = Array(ofDownloads.removeValue(forKey: snapshot.id)?.values.map(\.self) ?? [])
            for continuation in ended { continuation.yield(snapshot.progress) }
        } else if event.kind != .added, event.kind != .changed {
            active[snapshot.id] = snapshot.progress
            yield(snapshot.progress)
        }
        if !ofSession.isEmpty { yieldSum() }
        return ended
    }

    /// Sends the progress of the running downloads to the streams.
    mutating func handle(_ all: [DownloadProgress], at now: ContinuousClock.Instant) {
        let begin = start ?? now
        start = begin
        let time = (now - begin) / .seconds(1)
        for var progress in all where !progress.state.kind.isEnded {
            var meter = meters[progress.id] ?? Meter()
            if progress.state.kind == .running {
                meter.speed.add(time: time, bytes: progress.received)
                meter.timeLeft.add(
                    time: time, bytes: progress.received, remaining: progress.total.map { $0 - progress.received })
                progress.speed = meter.speed.speed ?? progress.speed
                progress.timeLeft = meter.timeLeft.left
                meters[progress.id] = meter
            } else {
                meters[progress.id] = nil
            }
            active[progress.id] = progress
            yield(progress)
        }
        guard !ofSession.isEmpty else { return }
        sessionSpeed.add(time: time, bytes: sum.received)
        yieldSum()
    }

    private func yield(_ progress: DownloadProgress) {
        for continuation in ofDownloads[progress.id]?.values.map(\.self) ?? [] { continuation.yield(progress) }
    }

    private func yieldSum() { for continuation in ofSession.values { continuation.yield(sum) } }

    var sum: SessionProgress {
        var sum = SessionProgress()
        sum.completed = completed
        sum.active = active.count
        sum.received = finished + active.values.reduce(0) { $0 + $1.received }
        sum.total = finished + active.values.reduce(0) { $0 + ($1.total ?? 0) }
        sum.speed = sessionSpeed.speed
        return sum
    }
}
