import Foundation

/// Where one download is in this session. A download that is only a row in the store has no place.
enum Place {
    /// The record is in memory, and the download waits for a slot.
    indirect case queued(QueuedDownload)
    /// The schedule forbids the download to run now, and the store does not say so yet.
    indirect case arriving(QueuedDownload)
    /// The download is being attempted, or waits between two attempts.
    indirect case active(ActiveDownload)
    /// The download is a row in the store until its schedule lets it run.
    indirect case parked(ParkedDownload)
    /// The download is paused, and a foreground session stays for it.
    indirect case paused(DownloadRecord)
    /// The attempt is over, and the store could not take the result: the store still shows the download at work.
    indirect case unsaved(DownloadRecord)
    /// One caller changes it in the store; other callers wait. The value says where it was before.
    indirect case changing(from: Place?)
}

/// A download that waits for a slot.
struct QueuedDownload {
    var record: DownloadRecord
    /// Attempts that failed in a row. Nil: it is queued in the store, too. Otherwise the store shows it as waiting.
    var failures: Int?
    /// What is left of the time that its request gives it, if an attempt has used some of that.
    var timeLeft: Duration?

    init(_ record: DownloadRecord, failures: Int? = nil, timeLeft: Duration? = nil) {
        self.record = record
        self.failures = failures
        self.timeLeft = timeLeft
    }

    /// The store knows everything about it, so that it can be left there.
    var isPlain: Bool { failures == nil && timeLeft == nil }
}

/// A download that waits for its schedule.
struct ParkedDownload {
    let until: Date
    let progress: DownloadProgress
    /// As of ``QueuedDownload``.
    let timeLeft: Duration?
}

/// A download that is being attempted, or waits between two attempts.
struct ActiveDownload {
    enum Stage: Equatable {
        /// A small file that is to follow another one in its slot (``ReadyFiles``). The store shows it as queued.
        case ready
        /// The download transfers, and uses a slot.
        case running
        /// A small file whose bytes have all come. It uses no slot.
        case whole
        /// The transfers are over, and the file is being finished, which uses no slot.
        case finishing
        /// The attempt is over, and its result is being saved.
        case ending
        /// The download waits for its next attempt.
        case backingOff
        /// As ``backingOff``, while a change of it is being saved.
        case savingChange(delayIsOver: Bool)
    }

    /// As it was when the attempt began, with the changes since.
    var record: DownloadRecord
    var control: RunnerControl
    var stage: Stage
    /// Attempts that failed in a row.
    var failures = 0
    /// When the time that the request gives it is over.
    var deadline: ContinuousClock.Instant?
    /// When its schedule says that it must stop.
    var closes: Date?
    /// Why it was asked to stop.
    var stopReason: StopReason?
    /// Waits for the end of the delay between two attempts; cancelled, it ends at once.
    var timer: Task<Void, Never>?
    /// The download was queued again in the store while its last attempt was about to end.
    var isQueuedAgain = false
    /// The record that says that the file is complete, if the store did not take it.
    var unsaved: DownloadRecord?
    /// The callers that wait for the end of this attempt, or of the delay after it.
    var waiters: [SessionBook.Waiter] = []

    init(_ record: DownloadRecord, _ control: RunnerControl, _ stage: Stage = .running) {
        self.record = record
        self.control = control
        self.stage = stage
    }

    var progress: DownloadProgress { control.progress(id: record.id, state: record.state) }

    var isBackingOff: Bool {
        switch stage {
        case .backingOff, .savingChange: true
        case .ready, .running, .whole, .finishing, .ending: false
        }
    }
}

/// The reason why an attempt was asked to stop, which says what becomes of its download.
enum StopReason: Equatable {
    case pause(DownloadState.PauseReason)
    case cancel
    /// The download goes on, changed.
    case change(DownloadChange)
    /// The download goes on when its schedule lets it run.
    case park
    case remove

    var isPause: Bool {
        if case .pause = self { true } else { false }
    }
}

extension DownloadRecord {
    /// When its schedule lets it run; nil: now.
    func closedUntil(at date: Date) -> Date? {
        guard case .closed(let until)? = request.schedule?.answer(at: date) else { return nil }
        return until
    }

    /// When its schedule says that it must stop; nil: never.
    func closes(at date: Date) -> Date? {
        guard case .open(let until)? = request.schedule?.answer(at: date) else { return nil }
        return until
    }
}
