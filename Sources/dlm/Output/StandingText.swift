import DownloadKit

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
