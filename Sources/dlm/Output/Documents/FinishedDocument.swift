import DownloadKit

/// The final report on a download.
struct FinishedDocument: Document, Equatable {
    var version = 1
    var event = "finished"
    let id: DownloadID
    let state: String
    let result: String
    let path: String?
    let file: String?
    let bytes: Int64
    let checksum: String?
    let verifiedBy: String?
    private(set) var url: String
    private(set) var effectiveURL: String?
    let wasCurrent: Bool
    let attempts: Int
    let error: ErrorDocument?
    let timings: TimingsDocument?

    init(_ ended: EndedDownload) {
        let (snapshot, fate, record) = (ended.snapshot, ended.fate, ended.snapshot.record)
        let isComplete = record.state == .completed
        let failure = record.failure(of: fate)
        file = fate?.rawValue
        id = record.id
        state = record.state.kind.rawValue
        result = failure == nil ? Self.result(record) : fate?.rawValue ?? ""
        path = isComplete ? record.completed?.path : nil
        bytes = isComplete ? record.completed?.bytes ?? 0 : snapshot.progress.received
        checksum = isComplete ? record.completed?.checksum?.description : nil
        verifiedBy = isComplete ? record.completed?.verified?.source.rawValue : nil
        url = record.request.url.string
        effectiveURL = record.resume.finalURL?.string
        wasCurrent = isComplete && (record.completed?.wasCurrent ?? false)
        attempts = record.attempts.count
        error = (record.state.error ?? failure).map(ErrorDocument.init)
        timings = record.attempts.last?.metrics.map(TimingsDocument.init)
    }

    /// The same report for sending to another machine. In URLs, user information is hidden, and so are parameters whose
    /// names suggest secrets.
    var withoutSecrets: FinishedDocument {
        var document = self
        document.url = Redaction.hidden(url)
        document.effectiveURL = effectiveURL.map(Redaction.hidden)
        return document
    }

    private static func result(_ record: DownloadRecord) -> String {
        guard record.state == .completed, let file = record.completed else {
            return record.state == .cancelled ? "cancelled" : "failed"
        }
        guard file.wasCurrent else { return "downloaded" }
        // If a download was skipped, dlm knows only that the file exists, not whether it is up to date.
        return record.request.destination.ifExists == .skip && file.validators.isEmpty ? "skipped" : "up-to-date"
    }
}
