import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore
@testable import DownloadEngine

private let date = Date(timeIntervalSince1970: 1_000_000)
private let time = ContinuousClock.now
private let session = "foreground-1"

@Suite("SessionBook: the place of a download, event by event", .inTurn)
struct SessionBookTests {
    private func record(
        _ id: DownloadID, _ state: DownloadState = .queued, host: String = "a", priority: Int = 0
    ) throws -> DownloadRecord {
        let url = try SourceURL.parse("http://\(host).example/\(id)").get().url
        var record = DownloadRecord(
            id: id, request: DownloadRequest(url: url, destination: Destination(folder: "/nowhere")), created: date)
        record.state = state
        record.session = session
        record.request.priority = priority
        return record
    }

    private func book(slots: Int = 2) -> SessionBook {
        SessionBook(identifier: session, scheduler: Scheduler(maxConcurrent: slots, maxPerOrigin: slots))
    }

    /// Begins the next attempt, and returns its download.
    @discardableResult
    private func start(_ book: inout SessionBook) -> ActiveDownload? {
        guard case .attempt(let queued)? = book.start(at: date, now: time) else { return nil }
        var record = queued.record
        record.move(to: .running)
        let active = ActiveDownload(record, AttemptControl(record: record))
        book.begin(active)
        return active
    }

    /// Returns a book with one running download.
    private func running(_ id: DownloadID = 1) throws -> (SessionBook, ActiveDownload) {
        var book = book()
        book.adopt(try record(id), at: date)
        let active = start(&book)
        return (book, try #require(active))
    }

    /// Returns a book with one download between two attempts.
    private func backingOff() throws -> SessionBook {
        var (book, active) = try running()
        _ = book.endAttempt(of: 1)
        active.record.state = .waiting(.retry(.unexpected("x")), until: nil)
        let endsAtOnce = book.backOff(active.record, failures: 2, active.control)
        #expect(!endsAtOnce)
        return book
    }

    private func expectSound(_ book: SessionBook, _ location: SourceLocation = #_sourceLocation) {
        #expect(book.contradiction == nil, sourceLocation: location)
    }

    // MARK: The queue

    @Test("Queued downloads begin by priority and order, as many as there are slots")
    func order() throws {
        var book = book()
        for (id, priority) in [(1, 0), (2, 5), (3, 5)] as [(DownloadID, Int)] {
            book.adopt(try record(id, priority: priority), at: date)
        }
        let begun = [start(&book), start(&book), start(&book)].map { $0?.record.id }
        #expect(begun == [2, 3, nil])
        #expect(book[queued: 1] != nil)
        expectSound(book)
    }

    @Test("If the window of the queue is full, its last download is left to the store, unless it is to be retried")
    func fullWindow() throws {
        var book = book(slots: 1)
        let size = DownloadID(book.mostQueued)
        for id in 1...size { book.adopt(try record(id), at: date) }
        book.adopt(try record(size.advanced(by: 1)), at: date)
        #expect(book[queued: size.advanced(by: 1)] == nil)
        #expect(book.queue.mayHaveMore)
        book.offer(QueuedDownload(try record(size.advanced(by: 2)), failures: 1), at: date)
        #expect(book[queued: size.advanced(by: 2)] != nil)
        book.adopt(try record(size.advanced(by: 3), priority: 1), at: date)
        #expect(book[queued: size.advanced(by: 3)] != nil && book[queued: size] == nil)
        #expect(book[queued: size.advanced(by: 2)] != nil)
        expectSound(book)
    }

    @Test("The store is read from the first download that was left to it")
    func positionOfTheRest() throws {
        var queue = StoreQueue()
        queue.leaveToStore(DownloadEntry(try record(7)))
        #expect(queue.mayHaveMore && queue.position == QueuePosition(priority: 0, id: 6))
        queue.leaveToStore(DownloadEntry(try record(9)))
        #expect(queue.position == QueuePosition(priority: 0, id: 6))
        queue.leaveToStore(DownloadEntry(try record(8, priority: 1)))
        #expect(queue.position == QueuePosition(priority: 1, id: 7))
        queue.beginReading()
        queue.didRead([DownloadEntry(try record(8, priority: 1))], limit: 1)
        #expect(queue.position == QueuePosition(priority: 1, id: 8))
        // After a read that may have lacked downloads, the store is read from its start, and the rest does not change that.
        queue.leaveToStore()
        queue.leaveToStore(DownloadEntry(try record(9)))
        #expect(queue.mayHaveMore && queue.position == nil)
    }

    @Test("If a download ends while the store is being read, it is not queued again", arguments: [false, true])
    func outdatedAnswer(isChange: Bool) throws {
        var (book, active) = try running()
        book.adopt(try record(2), at: date)
        book.queue.beginReading()
        if isChange {
            book.beginChange(of: [2])
            book.endChange(to: try record(2, .cancelled), by: .cancel, didChange: true, at: date)
        } else {
            active.record.state = .completed
            book.leave(active.record, to: nil)
        }
        let left: DownloadID = isChange ? 2 : 1
        let new = book.didRead([try record(left), try record(3)].map { DownloadEntry($0) })
        #expect(new.map(\.id) == [3])
        expectSound(book)
    }

    @Test("If a change of a download ends during a read of the store, the store is read again")
    func changedAroundRead() throws {
        var book = book()
        book.beginChange(of: [1])
        book.queue.beginReading()
        // The download may have been queued again after this change.
        book.endChange(to: try record(1, .paused(.user)), by: .pause, didChange: true, at: date)
        let new = book.didRead([DownloadEntry(try record(1))])
        #expect(new.isEmpty)
        #expect(book.queue.mayHaveMore)
    }

    @Test("After a refused claim during a read, the store is read again")
    func claimedAroundRead() throws {
        var book = book()
        book.queue.beginReading()
        let taken = book.beginClaim(of: [1])
        book.endClaim(of: taken)
        let new = book.didRead([DownloadEntry(try record(1))])
        #expect(new.isEmpty && book.queue.mayHaveMore)
    }

    @Test("A download in the middle of a change is not queued, and the store is read again")
    func changedWhileRead() throws {
        var book = book()
        _ = book.beginClaim(of: [1])
        book.queue.beginReading()
        let new = book.didRead([DownloadEntry(try record(1))])
        #expect(new.isEmpty)
        #expect(book.queue.mayHaveMore)
    }

    // MARK: Attempts

    @Test("A slot is free when the transfers are over, while the file is still being finished")
    func finishing() throws {
        var (book, active) = try running()
        let isOver = book.endTransfers(of: 1, active.control)
        #expect(isOver)
        #expect(book[active: 1]?.stage == .finishing && book.finishingCount == 1 && book.scheduler.running.isEmpty)
        let isOverAgain = book.endTransfers(of: 1, AttemptControl(record: active.record))
        #expect(!isOverAgain, "the report came from an earlier attempt")
        let ended = book.endAttempt(of: 1)
        #expect(ended?.record.id == 1)
        #expect(book[active: 1]?.stage == .ending && book.finishingCount == 0)
        active.record.state = .completed
        book.leave(active.record, to: nil)
        #expect(book.places.isEmpty)
        expectSound(book)
    }

    @Test("A small file has no place, and a slot of its own number, before it is entered")
    func smallFiles() throws {
        var book = book()
        book.adopt(try record(1), at: date)
        guard case .attempt(let queued)? = book.start(at: date, now: .now) else {
            Issue.record("nothing starts")
            return
        }
        book.lend(queued.entry.id, to: -1)
        #expect(book.places.isEmpty && Set(book.scheduler.running.keys) == [-1])
        let file = ActiveDownload(try record(1, .running), AttemptControl(record: try record(1)))
        book.enter(file, from: -1)
        #expect(book[active: 1]?.stage == .running)
        expectSound(book)
        // Another file has begun in the slot, and has no place.
        book.passSlot(from: 1, to: -2)
        #expect(book[active: 1]?.stage == .whole && Set(book.scheduler.running.keys) == [-2])
        book.freeSlot(-2)
        #expect(book.scheduler.running.isEmpty)
        expectSound(book)
    }

    @Test("A small file whose slot is free, or that is entered when it is whole, uses no slot")
    func wholeSmallFiles() throws {
        var (book, _) = try running()
        book.freeSlot(1)
        book.enter(ActiveDownload(try record(2, .running), AttemptControl(record: try record(2))), from: nil)
        #expect(book[active: 1]?.stage == .whole && book[active: 2]?.stage == .whole)
        expectSound(book)
        for id in [1, 2] as [DownloadID] { book.leave(try record(id, .completed), to: nil) }
        #expect(book.places.isEmpty)
        expectSound(book)
    }

    @Test("Files that are taken for the small files leave the queue up to the first that is no small file")
    func takenNext() throws {
        var (book, _) = try running()
        for id in 2...5 as ClosedRange<DownloadID> { book.adopt(try record(id), at: date) }
        let files = book.takeNext(9, of: nil) { entry in entry.id == 4 ? nil : entry.id }
        #expect(files == [2, 3])
        #expect(book[queued: 2] == nil && book[queued: 3] == nil && book[queued: 4] != nil)
        expectSound(book)
    }

    @Test("If a download is queued again while its last attempt ends, it is read from the store later")
    func queuedAgain() throws {
        var (book, active) = try running()
        _ = book.endAttempt(of: 1)
        book.claimed(try record(1), at: date)
        active.record.state = .paused(.user)
        book.leave(active.record, to: .paused(active.record))
        #expect(book.places.isEmpty && book.queue.mayHaveMore)
    }

    // MARK: Between two attempts

    @Test("After its delay a download is queued with its failures, and is not left to the store")
    func delay() throws {
        var book = try backingOff()
        expectSound(book)
        for _ in 0..<2 {
            let stop = book.endDelay(of: 1, at: date, now: time)
            #expect(stop == nil && book[queued: 1]?.failures == 2)
        }
        expectSound(book)
    }

    @Test("If a delay is over while a change is being saved, it ends after the save")
    func delayDuringChange() throws {
        var book = try backingOff()
        let changed = book.beginSavingChange(of: 1, .priority(7))
        #expect(changed?.request.priority == 7 && book.isChanging(1))
        let early = book.endDelay(of: 1, at: date, now: time)
        #expect(early == nil && book[queued: 1] == nil)
        let delayIsOver = book.endSavingChange(of: 1)
        #expect(delayIsOver)
        _ = book.endDelay(of: 1, at: date, now: time)
        #expect(book[queued: 1]?.record.request.priority == 7)
        expectSound(book)
    }

    @Test("A stop during the save of a failure ends the delay at once", arguments: [false, true])
    func stopWhileSaving(isSession: Bool) throws {
        var (book, active) = try running()
        _ = book.endAttempt(of: 1)
        if isSession { book.isDraining = true } else { _ = book.stop(1, .cancel) }
        let waiterFound = book.waitForEnd(of: 1, active.control)
        let waiter = try #require(waiterFound)
        active.record.state = .waiting(.retry(.unexpected("x")), until: nil)
        let endsAtOnce = book.backOff(active.record, failures: 1, active.control)
        #expect(endsAtOnce)
        #expect(book.waiters.answers.isEmpty)
        let stopFound = book.endDelay(of: 1, at: date, now: time)
        let stop = try #require(stopFound)
        #expect(stop.reason == (isSession ? .pause(.terminate) : .cancel))
        book.leave(stop.record, to: nil)
        let answers = book.takeAnswers()
        #expect(answers.map(\.waiter) == [waiter])
    }

    // MARK: Waiters

    @Test("Each caller is answered once: at the end of an attempt, of a change, or of all work")
    func answers() throws {
        var (book, active) = try running()
        let endFound = book.waitForEnd(of: 1, active.control)
        let end = try #require(endFound)
        let idleFound = book.waitUntilIdle()
        let idle = try #require(idleFound)
        book.beginChange(of: [2])
        let changeFound = book.waitForChanges(of: [1, 2])
        let change = try #require(changeFound)
        let none = book.waitForChanges(of: [1])
        #expect(none == nil && book.waiters.answers.isEmpty)
        book.forget([2])
        let first = book.takeAnswers()
        #expect(first.map(\.waiter) == [change])
        active.record.state = .completed
        book.leave(active.record, to: nil)
        let answers = book.takeAnswers()
        #expect(Set(answers.map(\.waiter)) == [end, idle])
        #expect(answers.first { $0.waiter == end }?.record?.state == .completed)
        let late = (book.waitUntilIdle(), book.waitForEnd(of: 1, active.control))
        #expect(book.waiters.answers.isEmpty && late.0 == nil && late.1 == nil)
    }

    // MARK: Changes

    enum Kind: CaseIterable { case none, queued, retrying, paused, parked, unsaved }

    private func place(_ kind: Kind, in book: inout SessionBook) throws {
        switch kind {
        case .none: break
        case .queued: book.adopt(try record(1), at: date)
        case .retrying: book.offer(QueuedDownload(try record(1), failures: 3), at: date)
        case .paused: book.addPaused(try record(1, .paused(.user)))
        case .parked:
            let waiting = try record(1, .waiting(.schedule, until: date))
            book.leave(waiting, to: book.parkedPlace(waiting, now: time))
        case .unsaved: book.keepUnsaved(try record(1, .completed))
        }
    }

    private func kind(_ book: SessionBook) -> Kind? {
        switch book.places[1] {
        case nil: Kind.none
        case .queued(let queued): queued.isPlain ? .queued : .retrying
        case .paused: .paused
        case .parked: .parked
        case .unsaved: .unsaved
        case .active, .arriving, .changing: nil
        }
    }

    @Test(
        "A download does not start during a change; if the store refuses the change, its place is as before",
        arguments: Kind.allCases)
    func refused(_ kind: Kind) throws {
        var book = book()
        try place(kind, in: &book)
        book.beginChange(of: [1, 1])
        let begun = start(&book)
        #expect(book.isChanging(1) && begun == nil)
        #expect(book.progressAtRest.map(\.id) == ([.paused, .parked].contains(kind) ? [1] : []))
        expectSound(book)
        book.cancelChange(of: [1, 1], at: date)
        #expect(self.kind(book) == kind)
        expectSound(book)
    }

    @Test(
        "After a change, the place of a download is the one that the store says",
        arguments: [
            (.none, .paused(.user), .pause, true, .paused), (.none, .paused(.user), .pause, false, .none),
            (.queued, .paused(.user), .pause, true, .paused), (.queued, .cancelled, .cancel, true, .none),
            (.queued, .queued, .priority(1), true, .queued), (.retrying, .paused(.user), .pause, true, .paused),
            (.retrying, .waiting(.schedule, until: nil), .priority(1), true, .retrying),
            (.paused, .paused(.user), .priority(1), true, .paused), (.paused, .cancelled, .cancel, true, .none),
            (.parked, .waiting(.schedule, until: nil), .priority(1), true, .parked),
            (.parked, .paused(.user), .pause, true, .paused), (.unsaved, .running, .priority(1), false, .unsaved),
            (.none, .completed, .cancel, false, .none),
        ] as [(Kind, DownloadState, DownloadChange, Bool, Kind)])
    func changed(_ before: Kind, _ state: DownloadState, _ change: DownloadChange, _ didChange: Bool, _ after: Kind)
        throws
    {
        var book = book()
        try place(before, in: &book)
        book.beginChange(of: [1])
        book.endChange(to: try record(1, state), by: change, didChange: didChange, at: date)
        #expect(kind(book) == after)
        expectSound(book)
    }

    @Test(
        "A queued download keeps its place during a claim; a refused claim changes nothing", arguments: Kind.allCases)
    func claim(_ kind: Kind) throws {
        var book = book()
        try place(kind, in: &book)
        var taken = book.beginClaim(of: [1])
        #expect(book.isChanging(1) == (kind != .queued && kind != .retrying))
        book.endClaim(of: taken)
        #expect(self.kind(book) == kind)
        taken = book.beginClaim(of: [1])
        book.claimed(try record(1), at: date)
        book.endClaim(of: taken)
        #expect(self.kind(book) == (kind == .retrying ? .retrying : .queued))
        expectSound(book)
    }

    @Test("A claim of a queued download does not end another caller's change")
    func claimDuringChange() throws {
        var book = book()
        try place(.queued, in: &book)
        let taken = book.beginClaim(of: [1])
        book.beginChange(of: [1])
        book.endClaim(of: taken)
        #expect(book.isChanging(1))
        expectSound(book)
    }

    // MARK: The end

    @Test("At the end of a session only downloads between two attempts must be paused one by one")
    func dropQueue() throws {
        var book = book()
        book.adopt(try record(1), at: date)
        book.offer(QueuedDownload(try record(2), failures: 1), at: date)
        book.endReason = .user
        let dropped = book.dropQueue()
        #expect(dropped.map(\.id) == [2])
        let begun = start(&book)
        #expect(book.isChanging(2) && book.places.count == 1 && begun == nil)
        book.leave(try record(2, .paused(.user)), to: nil)
        #expect(book.places.isEmpty)
        expectSound(book)
    }
}
