import DownloadKit

/// Progress as JSON: a line for each download whose progress has changed since the last line.
struct JSONProgress {
    private var told: [DownloadID: ProgressDocument] = [:]
    private var total: TotalDocument?

    mutating func lines(_ frame: ProgressFrame) -> [String] {
        var lines: [String] = []
        for row in frame.rows {
            let document = ProgressDocument(row)
            guard told.updateValue(document, forKey: row.id) != document else { continue }
            lines.append(document.json)
        }
        if let document = frame.total.map(TotalDocument.init), document != total {
            total = document
            lines.append(document.json)
        }
        return lines
    }

    /// Returns the last line of a download that was completed, has failed or was cancelled.
    mutating func last(_ snapshot: DownloadSnapshot) -> String {
        told[snapshot.id] = nil
        return ProgressDocument(
            ProgressFrame.Row(snapshot.progress, note: snapshot.state.error.map(Redaction.describe))
        )
        .json
    }
}
