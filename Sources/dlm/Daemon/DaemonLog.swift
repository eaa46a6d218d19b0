import DownloadKit
import Foundation

/// The log of the background session. The lines go to systemd's journal, or with the time in UTC to standard error.
struct DaemonLog: Sendable {
    let console: Console
    /// The log file, which is replaced when it grows too large; nil if no file is to be replaced.
    let file: DaemonLogFile?
    var time: any TimeSource = SystemTime()
    /// The journal, which takes each line together with its fields; nil if systemd does not read standard error.
    var journal: JournalLog?

    func line(
        _ text: String, _ priority: JournalLog.Priority = .info, _ id: JournalLog.MessageID? = nil,
        of record: DownloadRecord? = nil
    ) {
        let text = Escaping.line(Redaction.hidden(text))
        if let journal, journal.send(text, priority, id, fields: record.map(Self.fields) ?? []) { return }
        file?.rotateIfLarge()
        console.note("\(time.date.ISO8601Format()) \(text)")
    }

    func error(_ error: any Error) {
        line("error: " + ((error as? DownloadError).map(Redaction.describe) ?? "\(error)"), .error)
    }

    private static func fields(_ record: DownloadRecord) -> [(String, String)] {
        var fields = [
            ("DLM_ID", "\(record.id)"), ("DLM_URL", Redaction.hidden(record.request.url.string)),
            ("DLM_STATE", record.state.kind.rawValue),
        ]
        if let completed = record.completed {
            fields += [("DLM_PATH", completed.path), ("DLM_BYTES", "\(completed.bytes)")]
        }
        if case .failed(let error) = record.state {
            fields += [("DLM_ERROR_KIND", error.kind), ("DLM_EXIT_STATUS", "\(error.exitStatus)")]
        }
        return fields
    }

    /// Logs which downloads are completed, have failed or start over. All other events are in `dlm events`.
    func follow(_ events: DownloadEvents) async {
        for await group in events.groups {
            if case .added = group { continue }
            for event in group.events { follow(event) }
        }
    }

    private func follow(_ event: DownloadEvent) {
        let record = event.snapshot.record
        if event.kind == .completed {
            let bytes = record.completed.map { " (\($0.bytes) bytes)" } ?? ""
            let what = record.completed?.path ?? record.displayName
            line("\(record.id): completed: \(what)\(bytes)", .info, .completed, of: record)
        } else if case .didFail(_, let error) = event {
            line("\(record.id): failed: \(FailureText.line(record, error))", .notice, .failed, of: record)
        } else if case .didRestart(_, let why) = event {
            line("\(record.id): \(ErrorText.restart(why))", .notice, .restarted, of: record)
        }
    }
}
