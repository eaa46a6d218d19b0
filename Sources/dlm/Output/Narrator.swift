import DownloadKit
import Foundation
import Synchronization

/// The reports about downloads: paths or JSON on stdout, errors and notices on stderr.
struct Narrator: Sendable {
    /// The largest number of paused downloads that get a line each. All further paused downloads share one line.
    static let pausedLines = 10

    let console: Console
    let options: OutputOptions
    let style: Style
    /// Whether a paused download gets a line even without `-v`. Bars show paused downloads already.
    var showsStanding = true
    /// Whether each wait for another attempt gets a line even without `-v`. Bars show waits already.
    var showsRetries = false
    /// Whether unfinished downloads can be resumed.
    var keepsUnfinished = true
    /// Whether the files are only archives, which the command unpacks. Their paths are not printed, and a download
    /// that did not end is continued by the same command.
    var unpacks = false
    /// The notification on the terminal when all downloads have ended; nil if it was not requested.
    var notice: TerminalNotice?
    var time: any TimeSource = SystemTime()
    private let told = Told()

    /// Whether only failures are reported.
    private var isSilent: Bool { options.quiet && !options.json }
    private var tellsStanding: Bool { !options.quiet && (showsStanding || options.verbose > 0) }
    private var tellsRetries: Bool { !options.quiet && (showsRetries || options.verbose > 0) }

    func reject(_ document: RejectedDocument) { document.tell(console, options) }

    /// Whether a complete download is told by its path at most.
    var tellsPathsOnly: Bool { options.verbose == 0 && !options.json }

    /// Records that downloads have begun, so that the network is back.
    func began() { if !isSilent { told.endOutage() } }

    /// Prints the paths of small files. Called only if ``tellsPathsOnly`` is true.
    func end(_ files: some Sequence<SmallFile>) {
        if isSilent || options.quiet || unpacks { return }
        for file in files { if let path = file.completed?.path { console.print(path: path, style) } }
    }

    func tell(_ event: DownloadEvent) {
        if isSilent { return }
        if case .didStart = event { told.endOutage() }
        if options.json, let document = EventDocument(event) { console.print(document.json) }
        if case .didRestart(let snapshot, let why) = event, told.isRepeated(why, snapshot.record) { return }
        let text = ProgressText.text(
            event, verbosity: options.verbose, tellsRetries: tellsRetries, before: told.lastRequest(event),
            now: time.date)
        guard let text, !options.quiet else { return }
        if options.verbose == 0, told.isRepeatedOutage(event) { return }
        console.report(text)
    }

    func tell(_ event: LoggedEvent) {
        if options.json, let document = EventDocument(event) { console.print(document.json) }
        guard tellsRetries, event.kind == .waiting, let state = event.state,
            let note = StateText.note(state, now: time.date)
        else { return }
        console.report("\(event.id): \(event.name): \(note)")
    }

    /// - Parameter count: The number of paused downloads so far. Many downloads are not reported one by one.
    func stand(_ id: DownloadID, _ name: String, isInterrupted: Bool, count: Int) {
        guard tellsStanding, count <= Self.pausedLines + 1 else { return }
        let why = isInterrupted ? StandingText.interrupted : "paused; continue with: dlm resume \(id)"
        console.report(count > Self.pausedLines ? "more downloads are paused; see: dlm list" : "\(id): \(name): \(why)")
    }

    func goOn(_ id: DownloadID, _ name: String) {
        if tellsStanding { console.report("\(id): \(name): resumed") }
    }

    /// Reports a removed download. The document is nil if only the number of the download is known.
    func removed(_ id: DownloadID, _ document: EventDocument?) {
        let message = document?.name.map { "\(id): \($0): removed by another command" } ?? "download \(id) was removed"
        console.report(message)
        guard options.json else { return }
        console.print(
            document?.json
                ?? RejectedDocument(message: message, exitStatus: DownloadError.cancelled.exitStatus).json)
    }

    /// Reports the downloads that continue in other processes. If the user asked for that (`isExpected`), they are
    /// reported only on a terminal, with `-v` and with `--json`. The downloads in `active` were active before.
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

    /// Reports the end of a download. With `isCounted`, a terminal shows only the number of complete downloads.
    func end(_ ended: EndedDownload, display: ProgressDisplay, isCounted: Bool = false) {
        let record = ended.snapshot.record
        if let failure = ended.failure {
            if !ended.wasComplete {
                display.settle(ended)
                display.fail(ended.snapshot)
            }
            tell(failure, of: record)
        } else {
            tellFile(of: ended, display, isCounted: isCounted)
            if options.verbose > 0, !options.quiet {
                let earlier = ["\(record.id): \(record.displayName): was already complete, so nothing was fetched"]
                for line in ended.wasComplete ? earlier : ProgressText.details(record) { console.report(line) }
            }
        }
        if options.json { console.print(FinishedDocument(ended).json) }
    }

    /// Reports a failure. A failure that all downloads in a folder share is collected and reported later.
    private func tell(_ failure: DownloadError, of record: DownloadRecord) {
        let line = FailureText.line(record, failure, canResume: keepsUnfinished && !unpacks)
        if !keepsUnfinished || !told.collects(failure, of: record, line: line) { console.report(line) }
    }

    func tellFolders() { for line in told.takeFolders() { console.report(line) } }

    /// Prints the last progress row and the path of a complete download. If a terminal shows only the number of
    /// complete downloads, no row is printed. The path is then printed only if standard output is no terminal.
    private func tellFile(of ended: EndedDownload, _ display: ProgressDisplay, isCounted: Bool) {
        let isHidden = isCounted && display.mode == .bar && options.verbose == 0
        if !isHidden { display.settle(ended) }
        guard !options.quiet, !options.json, !unpacks, let file = ended.snapshot.record.completed, !file.isStream
        else { return }
        if !isHidden || !console.outputIsTerminal { console.print(path: file.path, style) }
    }

    func summarize(_ ledger: Ledger, seconds: Double) {
        if let notice, !ledger.isInterrupted { console.signal(notice.text(NoticeText.of(ledger))) }
        guard console.errorsAreTerminal, !options.quiet, !ledger.isInterrupted else { return }
        if let line = SummaryText.line(ledger, seconds: seconds, style: style) { console.note(line) }
    }

    /// Reports the downloads that a signal has paused, and the number of joined downloads, which continue elsewhere.
    func paused(ids: [DownloadID], snapshots: [DownloadSnapshot], elsewhere: Int, hasRest: Bool) {
        if options.json { for snapshot in snapshots { console.print(EventDocument("paused", snapshot).json) } }
        if unpacks { return console.report("the same command continues the download and unpacks") }
        let lines =
            keepsUnfinished
            ? PausedText.lines(ids: ids, snapshots: snapshots, elsewhere: elsewhere, hasRest: hasRest)
            : PausedText.discarded(ids.count)
        for line in lines { console.report(line) }
    }
}

/// The reports that were made already, and those that are collected and made once for many downloads.
private final class Told: Sendable {
    private struct State {
        var isOutage = false
        var failures = FolderFailures()
        /// The folders whose deletion was reported.
        var folders: Set<String> = []
        /// The requests of running downloads as they were last seen, for the reports of changes.
        var requests: [DownloadID: DownloadRequest] = [:]
    }

    private let state = Mutex(State())
    /// The greatest number of requests that are kept. Changes of further downloads are reported with all values.
    private static let most = 1000

    /// Returns whether the event reports a lost network that was already reported for another download.
    func isRepeatedOutage(_ event: DownloadEvent) -> Bool {
        guard case .willRetry(let snapshot, _) = event, case .waiting(.network, _) = snapshot.record.state else {
            return false
        }
        return state.withLock { state in
            defer { state.isOutage = true }
            return state.isOutage
        }
    }

    func endOutage() { state.withLock { $0.isOutage = false } }

    func lastRequest(_ event: DownloadEvent) -> DownloadRequest? {
        let record = event.snapshot.record
        return state.withLock { state in
            if event.kind.endsWait { state.requests[record.id] = nil }
            guard [.started, .changed].contains(event.kind) else { return nil }
            let last = state.requests[record.id]
            if last != nil || state.requests.count < Self.most { state.requests[record.id] = record.request }
            return last
        }
    }

    func collects(_ error: DownloadError, of record: DownloadRecord, line: String) -> Bool {
        state.withLock {
            $0.failures.add(record, error, line: line) { FileManager.default.fileExists(atPath: $0) }
        }
    }

    func takeFolders() -> [String] { state.withLock { $0.failures.take() } }

    /// Returns whether the deletion of this download's folder was already reported. The first download creates the
    /// folder again. The other downloads then find only that their partial files are gone.
    func isRepeated(_ why: RestartReason, _ record: DownloadRecord) -> Bool {
        let folder = record.request.destination.folder
        return state.withLock { state in
            switch why {
            case .folderDeleted: !state.folders.insert(folder).inserted
            case .partialDeleted: state.folders.contains(folder)
            case .versionUnproved, .partsUnavailable, .partsUnusable, .other: false
            }
        }
    }
}
