import DownloadKit
import Foundation

/// Tells what happens to downloads: paths or JSON on stdout, errors and notices on stderr.
struct Narrator: Sendable {
    /// Downloads that a signal paused, told one by one; more become one line.
    static let pausedLines = 10

    let console: Console
    let options: OutputOptions
    let style: Style
    private let started = ContinuousClock.now

    init(console: Console, options: OutputOptions, style: Style) {
        self.console = console
        self.options = options
        self.style = style
    }

    func reject(_ document: RejectedDocument) {
        console.report(document.text)
        if options.json { console.print(document.json) }
    }

    func tell(_ event: DownloadEvent) {
        if options.json, let document = EventDocument(event) { console.print(document.json) }
        guard let text = ProgressText.text(event, verbosity: options.verbose), !options.quiet else { return }
        console.report(text)
    }

    /// The last word on a download, the moment it has ended.
    func end(_ snapshot: DownloadSnapshot, display: ProgressDisplay) {
        if snapshot.record.state == .completed {
            display.settle(snapshot)
            if !options.quiet, !options.json, let file = snapshot.record.completed { console.print(path: file.path) }
            if options.verbose > 0, !options.quiet {
                for line in ProgressText.details(snapshot.record) { console.report(line) }
            }
        } else {
            console.report(FailureText.line(snapshot.record, StateText.failure(snapshot.record.state)))
        }
        if options.json { console.print(FinishedDocument(snapshot).json) }
    }

    /// One line, where a person is looking.
    func summarize(_ ledger: Ledger) {
        guard console.errorsAreTerminal, !options.quiet else { return }
        let seconds = (ContinuousClock.now - started) / .seconds(1)
        if let line = SummaryText.line(ledger, seconds: seconds, style: style) { console.note(line) }
    }

    /// - Parameter elsewhere: how many were joined, and go on without us.
    func paused(ids: [DownloadID], snapshots: [DownloadSnapshot], elsewhere: Int, isPartOfList: Bool) {
        if options.json { for snapshot in snapshots { console.print(EventDocument("paused", snapshot).json) } }
        let lines = PausedText.lines(
            ids: ids, snapshots: snapshots, elsewhere: elsewhere, isPartOfList: isPartOfList)
        for line in lines { console.report(line) }
    }
}
