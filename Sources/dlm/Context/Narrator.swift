import DownloadKit
import Foundation
import Synchronization

/// Tells what happens to downloads: paths or JSON on stdout, errors and notices on stderr.
struct Narrator: Sendable {
    /// Downloads that a signal paused, told one by one; more become one line.
    static let pausedLines = 10

    let console: Console
    let options: OutputOptions
    let style: Style
    /// Whether a line tells that a download stands still: bars show it by themselves.
    let tellsStanding: Bool
    /// Whether a line tells of each wait for another attempt: bars show it by themselves.
    let tellsRetries: Bool
    /// What ends unfinished can be resumed.
    let keepsUnfinished: Bool
    /// Nothing is told but failures. Kept, for to ask an option costs a look-up.
    private let isSilent: Bool
    let time: any TimeSource
    /// How the terminal tells the end; nil where it is not to.
    private let notice: TerminalNotice?
    private let started: ContinuousClock.Instant
    private let outage = ToldOutage()
    private let folders = ToldFolders()

    init(
        console: Console, options: OutputOptions, style: Style, tellsStanding: Bool = true,
        tellsRetries: Bool = false, keepsUnfinished: Bool = true,
        notice: TerminalNotice? = nil, time: any TimeSource = SystemTime()
    ) {
        self.notice = notice
        self.time = time
        started = time.now
        self.console = console
        self.options = options
        self.style = style
        self.keepsUnfinished = keepsUnfinished
        isSilent = options.quiet && !options.json
        self.tellsStanding = !options.quiet && (tellsStanding || options.verbose > 0)
        self.tellsRetries = !options.quiet && (tellsRetries || options.verbose > 0)
    }

    func reject(_ document: RejectedDocument) {
        console.report(document.text)
        if options.json { console.print(document.json) }
    }

    func tell(_ event: DownloadEvent) {
        if isSilent { return }
        if case .didStart = event { outage.isOver() }
        if options.json, let document = EventDocument(event) { console.print(document.json) }
        if case .didRestart(let snapshot, let why) = event, folders.wasTold(snapshot.record, why) { return }
        let text = ProgressText.text(
            event, verbosity: options.verbose, tellsRetries: tellsRetries, now: time.date)
        guard let text, !options.quiet else { return }
        if options.verbose == 0, !outage.isFirst(event) { return }
        console.report(text)
    }

    /// A download that was joined ends as it was begun.
    /// - Parameter request: what was asked for now.
    func tellHooks(of request: DownloadRequest, _ joined: DownloadRecord) {
        guard let notice = StandingText.otherHooks(request, joined) else { return }
        console.report(notice)
    }

    /// What another process did.
    func tell(_ event: LoggedEvent) {
        if options.json, let document = EventDocument(event) { console.print(document.json) }
        guard tellsRetries, event.kind == .waiting, let state = event.state,
            let note = StateText.note(state, now: time.date)
        else { return }
        console.report("\(event.id): \(event.name): \(note)")
    }

    /// - Parameter count: how many stand still by now; many are not told one by one.
    func stand(_ id: DownloadID, _ name: String, isInterrupted: Bool, count: Int) {
        guard tellsStanding, count <= Self.pausedLines + 1 else { return }
        let why = isInterrupted ? StandingText.interrupted : "paused; continue with: dlm resume \(id)"
        console.report(count > Self.pausedLines ? "more are paused; see: dlm list" : "\(id): \(name): \(why)")
    }

    func goOn(_ id: DownloadID, _ name: String) {
        if tellsStanding { console.report("\(id): \(name): resumed") }
    }

    /// - Parameter document: nil when nothing but its number is known any more.
    func removed(_ id: DownloadID, _ document: EventDocument?) {
        let message = document.map { "\(id): \($0.name): removed by another command" } ?? "download \(id) was removed"
        console.report(message)
        guard options.json else { return }
        console.print(
            document?.json ?? RejectedDocument(message, line: nil, exitStatus: DownloadError.cancelled.exitStatus).json)
    }

    /// What `resume` leaves to other processes.
    /// - Parameters:
    ///   - active: those at work before.
    ///   - isExpected: it is news to nobody but a person.
    func goOnElsewhere(_ records: [DownloadRecord], active: Set<DownloadID>, isExpected: Bool) {
        if options.json {
            for record in records {
                let word = active.contains(record.id) ? "unchanged" : "resumed"
                console.print(EventDocument(word, DownloadSnapshot(record: record)).json)
            }
        }
        if options.quiet || isExpected && !console.errorsAreTerminal && options.verbose == 0 { return }
        for line in StandingText.elsewhere(records, active: active) { console.report(line) }
    }

    func timeIsUp(_ limit: Seconds, _ ids: [DownloadID]) {
        let what = ids.count == 1 ? "download \(ids[0]) is" : "\(ids.count) downloads are"
        console.report("timed out after \(limit) s: \(what) not finished; see: dlm list")
    }

    /// The last word on a download, the moment it has ended.
    /// - Parameter isCounted: it is one of many, of which a terminal shows only the number of complete ones.
    func end(_ snapshot: DownloadSnapshot, display: ProgressDisplay, isCounted: Bool = false) {
        if snapshot.record.state == .completed {
            tellFile(of: snapshot, display, isCounted: isCounted)
            if isSilent { return }
            if options.verbose > 0, !options.quiet {
                for line in ProgressText.details(snapshot.record) { console.report(line) }
            }
        } else {
            display.settle(snapshot)
            display.fail(snapshot)
            let failure = StateText.failure(snapshot.record.state)
            tell(failure, of: snapshot.record)
        }
        if options.json { console.print(FinishedDocument(snapshot).json) }
    }

    /// Reports a failure, or collects it if a whole folder shares it: those are reported together.
    private func tell(_ failure: DownloadError, of record: DownloadRecord) {
        let line = FailureText.line(record, failure, canResume: keepsUnfinished)
        if !keepsUnfinished || !folders.add(record, failure, line: line) { console.report(line) }
    }

    /// Folders for which downloads have failed: a line for each folder.
    func tellFolders() { for line in folders.take() { console.report(line) } }

    /// The row and the path of a complete download. Where rows are only counted, so are paths on the same terminal.
    private func tellFile(
        of snapshot: DownloadSnapshot, _ display: ProgressDisplay, isCounted: Bool, wasComplete: Bool = false
    ) {
        let isHidden = isCounted && display.mode == .bar && options.verbose == 0
        if !isHidden { display.settle(snapshot, wasComplete: wasComplete) }
        guard !isSilent, !options.quiet, !options.json, let file = snapshot.record.completed, !file.isStream else {
            return
        }
        if !isHidden || !console.outputIsTerminal { console.print(path: file.path) }
    }

    /// The last word on a download that was complete before this command.
    func end(_ before: CompletedBefore, display: ProgressDisplay, isCounted: Bool = false) {
        let record = before.snapshot.record
        if let failure = before.failure {
            console.report(FailureText.line(record, failure))
        } else {
            tellFile(of: before.snapshot, display, isCounted: isCounted, wasComplete: true)
            if options.verbose > 0, !options.quiet {
                console.report("\(record.id): \(record.displayName): complete already, nothing fetched")
            }
        }
        if options.json { console.print(FinishedDocument(before).json) }
    }

    /// One line, where a person is looking, and a notice for one who is not.
    func summarize(_ ledger: Ledger) {
        if let notice, !ledger.isInterrupted { console.signal(notice.text(ledger)) }
        guard console.errorsAreTerminal, !options.quiet else { return }
        let seconds = (time.now - started) / .seconds(1)
        if let line = SummaryText.line(ledger, seconds: seconds, style: style) { console.note(line) }
    }

    /// - Parameter elsewhere: how many were joined, and go on without us.
    func paused(ids: [DownloadID], snapshots: [DownloadSnapshot], elsewhere: Int, isPartOfList: Bool) {
        if options.json { for snapshot in snapshots { console.print(EventDocument("paused", snapshot).json) } }
        let lines =
            keepsUnfinished
            ? PausedText.lines(ids: ids, snapshots: snapshots, elsewhere: elsewhere, isPartOfList: isPartOfList)
            : PausedText.discarded(ids.count)
        for line in lines { console.report(line) }
    }
}

/// That the network is gone is told of one download, not of each that waits for it.
private final class ToldOutage: Sendable {
    private let isTold = Atomic(false)

    /// False: the line of this event would say what was said before.
    func isFirst(_ event: DownloadEvent) -> Bool {
        guard case .willRetry(let snapshot, _) = event, snapshot.record.state.waiting.what == "network" else {
            return true
        }
        return !isTold.exchange(true, ordering: .relaxed)
    }

    func isOver() { isTold.store(false, ordering: .relaxed) }
}

/// What is told of a folder once, and not of each of its downloads.
private final class ToldFolders: Sendable {
    private let failures = Mutex(FolderFailures())
    private let restarted = Mutex<Set<String>>([])

    func add(_ record: DownloadRecord, _ error: DownloadError, line: String) -> Bool {
        failures.withLock {
            $0.add(record, error, line: line) { FileManager.default.fileExists(atPath: $0) }
        }
    }

    func take() -> [String] { failures.withLock { $0.take() } }

    /// Whether it was told before that the folder of this download was deleted. Once the first download of the folder
    /// has made it again, the others only miss their partial files.
    func wasTold(_ record: DownloadRecord, _ why: String) -> Bool {
        let folder = record.request.destination.folder
        return restarted.withLock { told in
            switch why {
            case DownloadEvent.folderIsGone: !told.insert(folder).inserted
            case DownloadEvent.partialIsGone: told.contains(folder)
            default: false
            }
        }
    }
}
