import DownloadCore
import Foundation

/// The places of all downloads that a session has in memory, and the consequences of each event.
///
/// It is a value and has no side effects. The session manager reports each event by a call, and carries out what the
/// call returns. Only ``move(_:to:)`` changes the place of a download.
struct SessionBook {
    /// The number of a waiting caller. The session manager has the caller's continuation.
    typealias Waiter = Int

    /// A waiter whose wait is over, with the record at the end of the attempt that it waited for.
    struct Answer {
        let waiter: Waiter
        var record: DownloadRecord?
    }

    /// The waiting callers, and the answers for those whose wait is over.
    struct Waiters {
        var last = 0
        /// The callers that wait until no download is active.
        var idle: [Waiter] = []
        /// The callers that wait for the end of a change, to look again.
        var changes: [Waiter] = []
        var answers: [Answer] = []

        mutating func add() -> Waiter {
            last += 1
            return last
        }
    }

    let identifier: String
    private(set) var places: [DownloadID: Place] = [:]
    /// The downloads with active places. A session may have a million parked downloads beside them.
    private(set) var activeIDs: Set<DownloadID> = []
    /// The number of active places at the stage ``ActiveDownload/Stage/finishing``. Each of them has open descriptors.
    private(set) var finishingCount = 0
    private(set) var unsavedCount = 0
    /// The downloads whose unsaved records a caller saves, or was the last to save.
    var savedAgain: [DownloadID] = []
    var scheduler: Scheduler
    var queue = StoreQueue()
    /// The maximum number of queued downloads in memory. An ordinary list fits.
    var mostQueued = 4096
    /// The downloads at ``Place/arriving(_:)`` in order, and some that have left that place.
    var arrivals: [DownloadID] = []
    /// A time before which no parked download is due. Nil if none was parked at the last look.
    var nextDue: Date?
    var waiters = Waiters()
    /// Why the session ends. All downloads must stop then, and the paused downloads show this reason. Nil as long as
    /// the session does not end.
    var endReason: DownloadState.PauseReason?
    /// Whether the session drains: no more attempts begin, and the running attempts go on to their ends.
    var isDraining = false

    var isForeground: Bool { SessionIdentifier.isForeground(identifier) }

    // MARK: Places

    /// Changes the place of a download, and all values that depend on the places. A download that leaves the running
    /// stage gives back its slot. For a download that enters this stage, the caller has already taken the slot.
    mutating func move(_ id: DownloadID, to place: Place?) {
        let old: Place?
        if let place { old = places.updateValue(place, forKey: id) } else { old = places.removeValue(forKey: id) }
        var (wasActive, isActive) = (false, false)
        switch old {
        case .active(let active):
            wasActive = true
            left(active.stage, id)
        case .unsaved:
            unsavedCount -= 1
            queue.settle(id)
        case .changing:
            queue.settle(id)
            answerChangeWaiters()
        case .queued, .arriving, .parked, .paused, nil: break
        }
        switch place {
        case .active(let active):
            isActive = true
            entered(active)
        case .unsaved: unsavedCount += 1
        case .parked(let parked): nextDue = min(nextDue ?? parked.until, parked.until)
        case .arriving: arrivals.append(id)
        case .queued, .paused, .changing, nil: break
        }
        if wasActive == isActive { return }
        if isActive { activeIDs.insert(id) } else { activeIDs.remove(id) }
        if activeIDs.isEmpty, !waiters.idle.isEmpty {
            answer(waiters.idle)
            waiters.idle = []
        }
    }

    private mutating func left(_ stage: ActiveDownload.Stage, _ id: DownloadID) {
        switch stage {
        case .running: scheduler.ended(id)
        case .finishing: finishingCount -= 1
        case .backingOff: scheduler.doesNotWait(id)
        case .savingChange:
            scheduler.doesNotWait(id)
            answerChangeWaiters()
        case .whole, .ending: break
        }
    }

    private mutating func entered(_ active: ActiveDownload) {
        switch active.stage {
        case .finishing: finishingCount += 1
        case .backingOff, .savingChange: scheduler.waits(active.record.id, for: active.record.source.origin)
        case .running, .whole, .ending: break
        }
    }

    /// Changes an active download. If its stage changes, its place changes with the stage.
    mutating func update(_ id: DownloadID, _ change: (inout ActiveDownload) -> Void) {
        guard case .active(var active)? = places[id] else { return }
        let stage = active.stage
        change(&active)
        if active.stage == stage { places[id] = .active(active) } else { move(id, to: .active(active)) }
    }

    subscript(active id: DownloadID) -> ActiveDownload? {
        if case .active(let active)? = places[id] { active } else { nil }
    }

    subscript(queued id: DownloadID) -> QueuedDownload? {
        if case .queued(let queued)? = places[id] { queued } else { nil }
    }

    subscript(unsaved id: DownloadID) -> DownloadRecord? {
        if case .unsaved(let record)? = places[id] { record } else { nil }
    }

    var actives: [ActiveDownload] { actives(among: activeIDs) }

    func actives(among ids: some Sequence<DownloadID>) -> [ActiveDownload] { ids.compactMap { self[active: $0] } }

    /// The progress of downloads that are paused or parked. A download that is being changed counts as it was before.
    var progressAtRest: [DownloadProgress] {
        places.values.compactMap { place in
            var place: Place? = place
            if case .changing(let before)? = place { place = before }
            return switch place {
            case .paused(let record): DownloadSnapshot(record: record).progress
            case .parked(let parked): parked.progress
            case .queued, .arriving, .active, .unsaved, .changing, nil: nil
            }
        }
    }

    // MARK: Waiters

    /// Adds a waiter that is answered when no download is active. Returns nil if none is active now.
    mutating func waitUntilIdle() -> Waiter? {
        if activeIDs.isEmpty { return nil }
        let waiter = waiters.add()
        waiters.idle.append(waiter)
        return waiter
    }

    mutating func answerChangeWaiters() {
        if waiters.changes.isEmpty { return }
        answer(waiters.changes)
        waiters.changes = []
    }

    mutating func answer(_ list: [Waiter], with record: DownloadRecord? = nil) {
        for waiter in list { waiters.answers.append(Answer(waiter: waiter, record: record)) }
    }

    /// Takes the answers for the waiters whose wait is over. Each answer is returned once.
    mutating func takeAnswers() -> [Answer] {
        defer { waiters.answers = [] }
        return waiters.answers
    }
}
