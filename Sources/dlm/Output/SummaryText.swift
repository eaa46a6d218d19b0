import DownloadKit

/// The summary line at the end of a command, and short names for groups of downloads.
enum SummaryText {
    /// Returns the summary. Returns nil if there is no download, or only one that is not complete, because its end was
    /// already reported.
    static func line(_ ledger: Ledger, seconds: Double, style: Style) -> String? {
        let tally = ledger.tally
        guard ledger.count > 1 || tally.completed > 0 else { return nil }
        var text = Units.count(ledger.count, "download")
        if tally.earlier == ledger.count {
            text += style.good(ledger.count == 1 ? " was complete already" : " were complete already")
            return text + ", \(Units.size(tally.completedBytes)); nothing was fetched"
        }
        text += outcomes(ledger, style)
        if tally.verified > 0 { text += ", \(some(tally.verified, of: ledger))\(algorithm(ledger))verified" }
        if tally.current > 0 { text += ", \(some(tally.current, of: ledger))current already" }
        if tally.earlier > 0 { text += ", \(tally.earlier) of them complete already" }
        let bytes = tally.completedBytes.adding(tally.unfinishedBytes)
        text += ", \(Units.size(bytes)) in \(Units.duration(seconds))"
        if tally.fetchedBytes > 0, seconds > 0 { text += " (\(Units.rate(Double(tally.fetchedBytes) / seconds)))" }
        return text
    }

    /// Returns ` complete`, or the number of downloads for each kind of end: `: 2 complete, 1 failed, 3 cancelled`.
    private static func outcomes(_ ledger: Ledger, _ style: Style) -> String {
        let failures = ledger.failures
        if failures.ids.isEmpty { return style.good(" complete") }
        let failed = failures.count - failures.cancelled - failures.lost
        var parts = ["\(ledger.tally.completed) complete"]
        if failed > 0 { parts.append(style.bad("\(failed) failed")) }
        if failures.cancelled > 0 { parts.append("\(failures.cancelled) cancelled") }
        if failures.lost > 0 { parts.append(style.bad("\(failures.lost) with the file gone or changed")) }
        return ": " + parts.joined(separator: ", ")
    }

    /// Returns the name of the checksum algorithm and a space if all verified downloads have the same algorithm.
    private static func algorithm(_ ledger: Ledger) -> String {
        ledger.tally.algorithms.count == 1 ? ledger.tally.algorithms.map { "\($0.rawValue) " }.joined() : ""
    }

    private static func some(_ count: Int, of ledger: Ledger) -> String {
        count == ledger.tally.completed ? "" : "\(count) of them "
    }

    /// Returns the ids as ranges, such as `3 5-8`, or nil if there are more than 8 ranges.
    static func ranges(_ ids: [DownloadID]) -> String? {
        let ranges = ids.ranges
        return ranges.count > 8 ? nil : ranges.text(separator: " ")
    }
}

/// The report on downloads that a signal has paused, and how to resume them.
enum PausedText {
    /// - Parameter hasRest: Whether the signal came before the command had added or resumed all its downloads.
    static func lines(
        ids: [DownloadID], snapshots: [DownloadSnapshot], elsewhere: Int = 0, hasRest: Bool = false
    ) -> [String] {
        var lines: [String]
        if ids.count > Narrator.pausedLines || snapshots.isEmpty && !ids.isEmpty {
            let command = "dlm resume \(SummaryText.ranges(ids) ?? "--all")"
            lines = ["\(Units.count(ids.count, "download")) paused; continue with: \(command)"]
        } else {
            lines = snapshots.filter { $0.record.state != .completed }.map(line)
        }
        if elsewhere > 0 {
            let what =
                elsewhere == 1
                ? "1 download continues in another process" : "\(elsewhere) downloads continue in other processes"
            lines.append("\(what); see: dlm list")
        }
        if hasRest { lines.append("the command did not get to all downloads; run it again for the rest") }
        return lines
    }

    static func discarded(_ count: Int) -> [String] {
        count == 0 ? [] : ["\(Units.count(count, "download")) ended unfinished; nothing is kept"]
    }

    private static func line(_ snapshot: DownloadSnapshot) -> String {
        let progress = snapshot.progress
        let size = Units.size(progress.received)
        let percent = Units.percent(progress.received, of: progress.total)
        let place = progress.received == 0 ? "" : " at " + (percent.map { "\($0)% (\(size))" } ?? size)
        let what = "\(snapshot.id) \(snapshot.record.displayName)"
        return "\(what) paused\(place); continue with: dlm resume \(snapshot.id)"
    }
}

/// The notices about downloads that are paused, or that continue in another process.
enum StandingText {
    /// The notice about a download whose background session was stopped or ended unexpectedly.
    static let interrupted = "interrupted: the background session is not running; run: dlm daemon start"

    /// Returns a notice if the hooks of a request will not run, because the joined download has other hooks or none.
    static func otherHooks(_ request: DownloadRequest, _ joined: DownloadRecord) -> String? {
        guard let hooks = request.hooks, hooks != joined.request.hooks else { return nil }
        return
            "\(joined.id): \(joined.displayName): is already being downloaded, and runs only the hooks that were given "
            + "when it was added"
    }

    /// - Parameter active: The ids of downloads that were already active.
    static func elsewhere(_ records: [DownloadRecord], active: Set<DownloadID>) -> [String] {
        if records.count > Narrator.pausedLines {
            return ["\(records.count) downloads continue in other processes; follow with: dlm watch"]
        }
        return records.map { record in
            let verb = active.contains(record.id) ? "runs already" : "continues"
            let place = record.session.map { "in session \($0)" } ?? "in another process"
            return "\(record.id): \(record.displayName): \(verb) \(place); follow with: dlm watch \(record.id)"
        }
    }
}
