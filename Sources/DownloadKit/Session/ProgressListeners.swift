import DownloadCore

/// The open streams of one kind. The key is a download, or nil for the whole session.
struct OpenStreams<Element: Sendable> {
    typealias Continuation = AsyncStream<Element>.Continuation

    private var continuations: [DownloadID?: [Int: Continuation]] = [:]

    var isEmpty: Bool { continuations.isEmpty }

    subscript(key: DownloadID?, number: Int) -> Continuation? {
        get { continuations[key]?[number] }
        set {
            continuations[key, default: [:]][number] = newValue
            if continuations[key]?.isEmpty == true { continuations[key] = nil }
        }
    }

    func yield(_ element: Element, to key: DownloadID?) {
        for continuation in (continuations[key] ?? [:]).values { continuation.yield(element) }
    }

    /// Finishes all streams. The caller must not hold the lock, because the termination handlers of streams take it.
    func finish() { for continuation in continuations.values.flatMap(\.values) { continuation.finish() } }

    mutating func removeAll(of key: DownloadID?) -> [Continuation] {
        Array((continuations.removeValue(forKey: key) ?? [:]).values)
    }
}

/// The progress streams of one session, with the progress of its downloads and the sums for the whole session. All
/// access must be under a lock.
struct ProgressListeners {
    private struct Meter {
        var speed = SpeedMeter()
        var timeLeft = TimeLeftMeter()
    }

    var ofDownloads = OpenStreams<DownloadProgress>()
    var ofSession = OpenStreams<SessionProgress>()
    private var meters: [DownloadID: Meter] = [:]
    private var sessionSpeed = SpeedMeter()
    private var start: ContinuousClock.Instant?
    /// The number of bytes of completed downloads.
    private var finished: Int64 = 0
    private var completed = 0
    /// The progress of downloads that have begun and have not ended.
    private var active: [DownloadID: DownloadProgress] = [:]

    var isEmpty: Bool { ofDownloads.isEmpty && ofSession.isEmpty }

    /// Sends the progress after a change of state to the streams.
    /// - Returns: The streams that end with this event.
    mutating func handle(_ event: DownloadEvent) -> [OpenStreams<DownloadProgress>.Continuation] {
        let snapshot = event.snapshot
        var ended: [OpenStreams<DownloadProgress>.Continuation] = []
        if event.kind.isEnd || event.kind == .removed {
            active[snapshot.id] = nil
            meters[snapshot.id] = nil
            if event.kind == .completed {
                completed += 1
                finished += snapshot.progress.received
            }
            ended = ofDownloads.removeAll(of: snapshot.id)
            for continuation in ended { continuation.yield(snapshot.progress) }
        } else if event.kind != .added, event.kind != .changed {
            active[snapshot.id] = snapshot.progress
            ofDownloads.yield(snapshot.progress, to: snapshot.id)
        }
        if !ofSession.isEmpty { ofSession.yield(sum, to: nil) }
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
                // After a long gap without bytes, the estimate has no limit, and a `Duration` has one.
                progress.timeLeft = meter.timeLeft.left.flatMap { $0 < 1e9 ? .seconds($0) : nil }
                meters[progress.id] = meter
            } else {
                meters[progress.id] = nil
            }
            active[progress.id] = progress
            ofDownloads.yield(progress, to: progress.id)
        }
        guard !ofSession.isEmpty else { return }
        sessionSpeed.add(time: time, bytes: sum.received)
        ofSession.yield(sum, to: nil)
    }

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
