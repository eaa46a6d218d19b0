import DownloadKit

/// The last word on a download.
struct FinishedDocument: Document, Equatable {
    var version = 1
    var event = "finished"
    let id: DownloadID
    let state: String
    /// `downloaded`, `up-to-date`, `skipped`, `failed` or `cancelled`.
    let result: String
    let path: String?
    let bytes: Int64
    /// What was verified.
    let checksum: String?
    /// Who said so: `user` or `server`.
    let verifiedBy: String?
    let url: String
    let effectiveURL: String?
    /// The file was there already, and the server said that it is current.
    let wasCurrent: Bool
    let attempts: Int
    let error: ErrorDocument?
    let timings: TimingsDocument?

    init(_ snapshot: DownloadSnapshot) {
        let record = snapshot.record
        let isComplete = record.state == .completed
        id = record.id
        state = record.state.kind.rawValue
        result = Self.result(record)
        path = isComplete ? record.completed?.path : nil
        bytes = isComplete ? record.completed?.bytes ?? 0 : snapshot.progress.received
        checksum = isComplete ? record.completed?.checksum?.description : nil
        verifiedBy = isComplete ? record.completed?.verified?.source.rawValue : nil
        url = record.request.url.string
        effectiveURL = record.resume.finalURL?.string
        wasCurrent = isComplete && (record.completed?.wasCurrent ?? false)
        attempts = record.attempts.count
        error = record.state.error.map(ErrorDocument.init)
        timings = record.attempts.last?.metrics.map(TimingsDocument.init)
    }

    private static func result(_ record: DownloadRecord) -> String {
        guard record.state == .completed, let file = record.completed else {
            return record.state == .cancelled ? "cancelled" : "failed"
        }
        guard file.wasCurrent else { return "downloaded" }
        // Of a file that was left alone nothing is known but that it is there.
        return record.request.destination.ifExists == .skip && file.validators.isEmpty ? "skipped" : "up-to-date"
    }
}
