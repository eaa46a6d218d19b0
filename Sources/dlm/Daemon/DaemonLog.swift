import DownloadKit
import Foundation

/// What the background session says on standard error: a line each, with the time in UTC.
struct DaemonLog: Sendable {
    let console: Console
    /// Cut when it grows; nil where somebody else looks after the lines.
    let file: DaemonLogFile?
    var time: any TimeSource = SystemTime()

    func line(_ text: String) {
        file?.rotateIfLarge()
        console.note("\(time.date.ISO8601Format()) \(Escaping.line(Redaction.hidden(text)))")
    }

    func error(_ error: any Error) {
        line("error: " + ((error as? DownloadError).map(Redaction.describe) ?? "\(error)"))
    }

    /// The ends of downloads; the rest is in `dlm events`.
    func follow(_ events: DownloadEvents) async {
        for await event in events {
            switch event {
            case .didComplete(let snapshot):
                let record = snapshot.record
                let bytes = record.completed.map { " (\($0.bytes) bytes)" } ?? ""
                line("\(record.id): completed: \(record.completed?.path ?? record.displayName)\(bytes)")
            case .didFail(let snapshot, let error):
                line("\(snapshot.id): failed: \(FailureText.line(snapshot.record, error))")
            case .didRestart(let snapshot, let why): line("\(snapshot.id): started over: \(why)")
            case .didAdd, .didStart, .willRetry, .didPostpone, .didPause, .didResume, .didCancel, .didRemove,
                .didChange:
                break
            }
        }
    }
}
