import DownloadTestSupport
import Foundation

@testable import DownloadCore
@testable import DownloadEngine

private let date = Date(timeIntervalSince1970: 1_000_000)
private let time = ContinuousClock.now

/// A session around a ``SessionBook`` without tasks. The store answers late, attempts end at random, and callers wait.
/// The next event is chosen by a random number, so that any event may overtake any other.
struct SimulatedSession<Random: RandomNumberGenerator> {
    /// Work that has begun and will end at some time.
    private enum Pending {
        case attempt(DownloadID, AttemptControl)
        case transfers(DownloadID, AttemptControl)
        /// A record that is being saved. Its download leaves the book afterwards.
        case leaving(DownloadRecord)
        case backingOff(DownloadRecord)
        case parking(DownloadRecord)
        case delay(DownloadID)
        case savingChange(DownloadID)
        case goingOn(DownloadID)
        /// A caller that continues, perhaps after a wait.
        case call(Call)
        /// A caller whose request to the store is not yet answered.
        case changing(Call)
        case reading([DownloadEntry])
    }

    enum Verb: CaseIterable { case pause, cancel, remove, resume, priority }

    struct Call {
        let verb: Verb
        let id: DownloadID
        /// The downloads to which a claim has exclusive access.
        var taken: [DownloadID] = []
    }

    private(set) var book: SessionBook
    private(set) var complaints: [String] = []
    private(set) var issued: Set<SessionBook.Waiter> = []
    /// The running attempts, as the network would see them.
    private(set) var running: [DownloadID: AttemptControl] = [:]
    private var store: [DownloadID: DownloadRecord] = [:]
    private var pending: [Pending] = []
    private var waiting: [SessionBook.Waiter: Call?] = [:]
    private var random: Random
    private var isReading = false
    private var lastID: DownloadID = 0
    private let limit: Int

    init(limit: Int, using random: Random) {
        book = SessionBook(
            identifier: "foreground-1", scheduler: Scheduler(maxConcurrent: limit, maxPerOrigin: max(1, limit - 1)))
        self.limit = limit
        self.random = random
        // With few places in memory, some downloads are left to the store.
        book.mostQueued = Int.random(in: 1...20, using: &self.random)
    }

    // MARK: Steps

    /// Begins new work, or ends work that has begun.
    mutating func step() {
        if pending.isEmpty || Int.random(in: 0..<3, using: &random) == 0 { ask() } else { endOne() }
        fill()
        check()
    }

    /// Ends all work that has begun, and begins no new work.
    mutating func drain() {
        book.endReason = .interrupt
        for record in report({ $0.dropQueue() }) { pending.append(.leaving(record)) }
        for id in book.activeIDs { stop(id, nil) }
        let waiter = book.waitUntilIdle()
        if let waiter { wait(waiter, for: nil) }
        for _ in 0..<10_000 where !pending.isEmpty {
            endOne()
            check()
        }
        // These downloads were on their way into the queue when it was emptied.
        for record in report({ $0.dropQueue() }) { report { $0.leave(record, to: nil) } }
        if !pending.isEmpty { complain("does not end: \(pending)") }
        if !waiting.isEmpty { complain("never answered: \(waiting)") }
        if !book.activeIDs.isEmpty { complain("still active: \(book.activeIDs)") }
        if !book.changing.isEmpty { complain("still changing: \(book.changing)") }
        if !running.isEmpty { complain("still running: \(running.keys)") }
    }

    private mutating func ask() {
        for id in book.takeDue(at: date) { pending.append(.goingOn(id)) }
        let verb = Verb.allCases.randomElement(using: &random)
        if let verb, lastID > 0, Bool.random(using: &random) {
            pending.append(.call(Call(verb: verb, id: (1...lastID).randomElement(using: &random) ?? 1)))
        } else if lastID < 30 {
            lastID = lastID.advanced(by: 1)
            let host = ["a", "b", "c"][Int(lastID.rawValue) % 3]
            guard let url = try? SourceURL.parse("http://\(host).example/\(lastID)").get().url else { return }
            var record = DownloadRecord(
                id: lastID, request: DownloadRequest(url: url, destination: Destination(folder: "/nowhere")),
                created: date)
            record.session = book.identifier
            store[lastID] = record
            if Bool.random(using: &random) { book.queue.leaveToStore() } else { book.adopt(record, at: date) }
        }
    }

    private mutating func endOne() {
        guard let index = pending.indices.randomElement(using: &random) else { return }
        end(pending.remove(at: index))
    }

    private mutating func end(_ one: Pending) {
        switch one {
        case .transfers(let id, let control): _ = book.endTransfers(of: id, control)
        case .attempt(let id, let control): endAttempt(id, control)
        case .leaving(let record): leave(record)
        case .backingOff(let record):
            if save(record) { return report { $0.leave(record, to: .unsaved(record)) } }
            _ = report { $0.backOff(record, failures: 1, AttemptControl(record: record)) }
            pending.append(.delay(record.id))
        case .parking(let record):
            let fails = save(record)
            let place = fails ? nil : book.parkedPlace(record, now: time)
            report { $0.leave(record, to: place) }
        case .delay(let id): endDelay(id)
        case .savingChange(let id):
            if report({ $0.endSavingChange(of: id) }) { endDelay(id) }
        case .goingOn(let id):
            // `takeDue` has reserved this download. A caller that changes it waits until it has continued.
            guard var record = store[id], record.state.kind == .waiting else {
                complain("\(id) was changed as it went on")
                return report { $0.forget([id]) }
            }
            record.state = .queued
            store[id] = record
            report { $0.endChange(to: record, at: date) }
            book.lookForNextDue()
        case .call(let call): begin(call)
        case .changing(let call): end(call)
        case .reading(let entries):
            isReading = false
            for entry in book.didRead(entries) { book.offer(QueuedDownload(entry), at: date) }
        }
    }

    // MARK: Attempts

    private mutating func fill() {
        if book.wantsQueue, book.mayBegin, !isReading {
            isReading = true
            book.queue.beginReading()
            let position = book.queue.position
            let queued = store.values.filter { record in
                record.state == .queued
                    && (position.map { (-$0.priority, $0.id) < (-record.request.priority, record.id) } ?? true)
            }
            pending.append(
                .reading(
                    queued.sorted { (-$0.request.priority, $0.id) < (-$1.request.priority, $1.id) }
                        .map { DownloadEntry($0) }))
        }
        while book.hasRoom, let next = book.start(at: date, now: time) {
            switch next {
            case .attempt(let queued): start(queued)
            case .parking(let record): pending.append(.parking(record))
            }
        }
    }

    private mutating func start(_ queued: QueuedDownload) {
        var record = queued.record
        let control = AttemptControl(record: record)
        record.state = .running
        if store[record.id] == nil { complain("\(record.id) was removed, and runs") }
        if let state = store[record.id]?.state, !state.kind.isActive { complain("\(record.id) is \(state), and runs") }
        if running.updateValue(control, forKey: record.id) != nil { complain("\(record.id) runs twice") }
        store[record.id] = record
        book.begin(ActiveDownload(record, control))
        pending.append(.transfers(record.id, control))
        pending.append(.attempt(record.id, control))
    }

    private mutating func endAttempt(_ id: DownloadID, _ control: AttemptControl) {
        if running[id] !== control { complain("\(id) ends without running") }
        running[id] = nil
        guard let active = book.endAttempt(of: id) else { return complain("\(id) ran without a place") }
        var record = active.record
        switch (active.stopReason ?? book.endReason.map { .pause($0) }, Int.random(in: 0..<4, using: &random)) {
        case (_, 0):
            record.state = .completed
            pending.append(.leaving(record))
        case (nil, 1):
            record.state = .waiting(.retry(.unexpected("x")), until: nil)
            pending.append(.backingOff(record))
        case (nil, 2):
            record.state = .waiting(.schedule, until: date)
            pending.append(.parking(record))
        case (let reason?, _): stopped(record, reason)
        default:
            record.state = .failed(.unexpected("x"))
            pending.append(.leaving(record))
        }
    }

    private mutating func stopped(_ stopped: DownloadRecord, _ reason: StopReason) {
        var record = stopped
        record.state = reason == .cancel ? .cancelled : .paused(.user)
        pending.append(.leaving(record))
    }

    private mutating func endDelay(_ id: DownloadID) {
        guard let stop = report({ $0.endDelay(of: id, at: date, now: time) }) else { return }
        stopped(stop.record, stop.reason)
    }

    private mutating func leave(_ record: DownloadRecord) {
        let place: Place? = save(record) ? .unsaved(record) : record.state == .paused(.user) ? .paused(record) : nil
        report { $0.leave(record, to: place) }
    }

    /// Saves the record. Returns whether the save failed.
    private mutating func save(_ record: DownloadRecord) -> Bool {
        if Int.random(in: 0..<10, using: &random) == 0 { return true }
        store[record.id] = record
        return false
    }

    /// Stops a download. The result of `SessionBook.stop` is ignored, because the end of the attempt or of the delay is
    /// pending already.
    private mutating func stop(_ id: DownloadID, _ reason: StopReason?) { _ = book.stop(id, reason) }

    // MARK: Callers

    private mutating func wait(_ waiter: SessionBook.Waiter, for call: Call?) {
        if !issued.insert(waiter).inserted { complain("waiter \(waiter) was issued twice") }
        waiting[waiter] = .some(call)
    }

    @discardableResult
    private mutating func report<Result>(_ event: (inout SessionBook) -> Result) -> Result {
        defer {
            for answer in book.takeAnswers() {
                guard let call = waiting.removeValue(forKey: answer.waiter) else {
                    complain("waiter \(answer.waiter) was answered twice")
                    continue
                }
                if let call { pending.append(.call(call)) }
            }
        }
        return event(&book)
    }

    private mutating func begin(_ call: Call) {
        if store[call.id] == nil { return }
        if let waiter = book.waitForChanges(of: [call.id]) { return wait(waiter, for: call) }
        let unsaved = book.beginSavingUnsaved()
        for record in unsaved { store[record.id] = record }
        report { $0.forget(unsaved.map(\.id)) }
        if let active = book[active: call.id] {
            let reason: StopReason
            switch call.verb {
            case .resume: return
            case .priority:
                if active.isBackingOff {
                    let change = DownloadChange.priority(.random(in: -2...2, using: &random))
                    if book.beginSavingChange(of: call.id, change) != nil { pending.append(.savingChange(call.id)) }
                }
                return
            case .pause: reason = .pause(.user)
            case .cancel: reason = .cancel
            case .remove: reason = .remove
            }
            stop(call.id, reason)
            if let waiter = book.waitForEnd(of: call.id, active.control) { wait(waiter, for: call) }
            return
        }
        var call = call
        if call.verb == .resume {
            call.taken = book.beginClaim(of: [call.id])
        } else {
            book.beginChange(of: [call.id])
        }
        pending.append(.changing(call))
    }

    /// Handles the store's answer to a caller.
    private mutating func end(_ call: Call) {
        let id = call.id
        guard var record = store[id], Int.random(in: 0..<6, using: &random) > 0 else {
            return report { call.verb == .resume ? $0.endClaim(of: call.taken) : $0.cancelChange(of: [id], at: date) }
        }
        let old = record
        switch call.verb {
        case .remove:
            store[id] = nil
            return report { $0.forget([id]) }
        case .resume:
            if !record.state.kind.isActive {
                record.state = .queued
                store[id] = record
                report { call.taken.isEmpty ? $0.adopt(record, at: date) : $0.claimed(record, at: date) }
            }
            return report { $0.endClaim(of: call.taken) }
        case .pause where record.state.kind.isActive:
            record.state = .paused(.user)
        case .cancel where !record.state.kind.isEnded: record.state = .cancelled
        case .priority: record.request.priority += 1
        case .pause, .cancel: break
        }
        store[id] = record
        let change: DownloadChange = call.verb == .priority ? .priority(0) : call.verb == .pause ? .pause : .cancel
        report { $0.endChange(to: record, by: change, didChange: record != old, at: date) }
    }

    // MARK: Invariants

    private mutating func complain(_ complaint: String) { complaints.append(complaint) }

    private mutating func check() {
        if let complaint = book.contradiction { complain(complaint) }
        let slots = book.scheduler.running.count
        if slots > limit { complain("\(slots) run, \(limit) may") }
        for id in running.keys where book[active: id] == nil { complain("\(id) runs without a place") }
        if book.hasRoom, book.scheduler.canStart { complain("a slot is free, and downloads wait for it") }
        if !book.waiters.answers.isEmpty { complain("answers are left") }
    }
}

extension SessionBook {
    /// A contradiction between the places and the values derived from them. Nil if all values fit.
    var contradiction: String? {
        var (active, running, queued, backingOff): (Set<DownloadID>, Set<DownloadID>, Set<DownloadID>, Set<DownloadID>)
        (active, running, queued, backingOff) = ([], [], [], [])
        var (finishing, unsaved) = (0, 0)
        for (id, place) in places {
            switch place {
            case .active(let download):
                active.insert(id)
                if download.stage == .running { running.insert(id) }
                if download.isBackingOff { backingOff.insert(id) }
                if download.stage == .finishing { finishing += 1 }
            case .queued: queued.insert(id)
            case .unsaved: unsaved += 1
            case .changing(.active?), .changing(.changing?): return "\(id) is changed from an active place"
            case .arriving:
                if !arrivals.contains(id) { return "\(id) has come, and is not among the arrivals" }
            case .parked(let parked):
                if nextDue.map({ $0 > parked.until }) ?? true { return "\(id) is due before the next check" }
            case .paused, .changing: break
            }
        }
        if active != activeIDs { return "active: \(active), \(activeIDs)" }
        if running != Set(scheduler.running.keys) { return "slots: \(running), \(scheduler.running)" }
        if queued != Set(scheduler.candidates.map(\.id)) { return "queued: \(queued), \(scheduler.candidates)" }
        if backingOff != Set(scheduler.retrying.keys) { return "retrying: \(backingOff), \(scheduler.retrying)" }
        if scheduler.candidates.count != queued.count { return "queued twice: \(scheduler.candidates)" }
        if finishing != finishingCount || unsaved != unsavedCount { return "counts: \(finishing), \(unsaved)" }
        return nil
    }
}
