import DownloadCore
import Foundation

/// The place of one download in this session. A download that is only a row in the store has no place, and a small
/// file has none before somebody looks at it (``SmallFileQueue``).
enum Place {
    /// The download is in memory, and waits for a slot.
    indirect case queued(QueuedDownload)
    /// The schedule forbids the download to run now, and the store does not show that yet.
    indirect case arriving(QueuedDownload)
    /// The download is being attempted, or waits between two attempts.
    indirect case active(ActiveDownload)
    /// The download is a row in the store until its schedule lets it run.
    indirect case parked(ParkedDownload)
    /// The download is paused, and this foreground session keeps running so that it can be resumed here.
    indirect case paused(DownloadRecord)
    /// The attempt is over, and the store could not save the result. The store still shows the download as running.
    indirect case unsaved(DownloadRecord)
    /// One caller changes the download in the store, and other callers wait. The value is the place before the change.
    indirect case changing(from: Place?)
}

/// A download that waits for a slot.
struct QueuedDownload {
    let entry: DownloadEntry
    /// The number of attempts that failed in a row. Nil if the store shows the download as queued; otherwise the store
    /// shows it as waiting.
    var failures: Int?
    /// The rest of the request's time limit, if an attempt has used a part of the limit.
    var timeLeft: Duration?

    init(_ entry: DownloadEntry, failures: Int? = nil, timeLeft: Duration? = nil) {
        self.entry = entry
        self.failures = failures
        self.timeLeft = timeLeft
    }

    init(_ record: DownloadRecord, failures: Int? = nil, timeLeft: Duration? = nil) {
        self.init(DownloadEntry(record), failures: failures, timeLeft: timeLeft)
    }

    var record: DownloadRecord { entry.record }

    /// Returns the time at which the schedule allows the download to run. Returns nil if it may run now.
    func closedUntil(at date: Date) -> Date? { entry.common.closedUntil(at: date) }

    /// Whether the store knows everything about the download, so that its record need not stay in memory.
    var isPlain: Bool { failures == nil && timeLeft == nil }
}

/// A download that waits for its schedule.
struct ParkedDownload {
    let until: Date
    let progress: DownloadProgress
    /// The rest of the request's time limit, as in ``QueuedDownload``.
    let timeLeft: Duration?
}

/// A download that is being attempted, or waits between two attempts.
struct ActiveDownload {
    enum Stage: Equatable {
        /// The download transfers, and uses a slot.
        case running
        /// A small file whose bytes have all come. It uses no slot.
        case whole
        /// The transfers are over, and the file is being finished, which uses no slot.
        case finishing
        /// The attempt is over, and its result is being saved.
        case ending
        case backingOff
        /// The download waits for its next attempt, like ``backingOff``, while a change of it is being saved.
        case savingChange(delayIsOver: Bool)
    }

    /// The record as it was when the attempt began, with the changes since.
    var record: DownloadRecord
    var control: AttemptControl
    var stage: Stage
    /// The number of attempts that failed in a row.
    var failures = 0
    /// The moment at which the request's time limit ends.
    var deadline: ContinuousClock.Instant?
    /// The time at which the schedule stops the download.
    var closes: Date?
    var stopReason: StopReason?
    /// The task that waits for the end of the delay between two attempts. Cancelling the task ends the delay at once.
    var timer: Task<Void, Never>?
    /// Whether the download was queued again in the store while its last attempt was about to end.
    var isQueuedAgain = false
    /// The record that says that the file is complete, if the store could not save it.
    var unsaved: DownloadRecord?
    /// The callers that wait for the end of this attempt or of the delay after it.
    var waiters: [SessionBook.Waiter] = []

    init(_ record: DownloadRecord, _ control: AttemptControl, _ stage: Stage = .running) {
        self.record = record
        self.control = control
        self.stage = stage
    }

    var progress: DownloadProgress { control.progress(id: record.id, state: record.state) }

    var isBackingOff: Bool {
        switch stage {
        case .backingOff, .savingChange: true
        case .running, .whole, .finishing, .ending: false
        }
    }
}

/// The reason why an attempt was asked to stop. It decides what happens to the download afterwards.
enum StopReason: Equatable {
    case pause(DownloadState.PauseReason)
    case cancel
    case change(DownloadChange)
    /// The download continues when its schedule lets it run.
    case park
    case remove

    var isPause: Bool {
        if case .pause = self { true } else { false }
    }
}
