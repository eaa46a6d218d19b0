import DownloadKit

/// The line in place of the rows for which there is no room: `… 91 more: 29 running, 1 waiting, 61 queued`.
enum HiddenRows {
    /// Nil when nothing is hidden.
    static func line(_ rows: ArraySlice<ProgressFrame.Row>, queued: Int) -> String? {
        var counts = rows.reduce(into: [:]) { $0[$1.state, default: 0] += 1 }
        counts[.queued, default: 0] += queued
        let parts = order.compactMap { state in
            counts[state].flatMap { $0 > 0 ? "\($0) \(state.rawValue)" : nil }
        }
        return parts.isEmpty ? nil : "… \(rows.count + queued) more: \(parts.joined(separator: ", "))"
    }

    private static let order: [DownloadState.Kind] = [
        .running, .waiting, .paused, .queued, .completed, .failed, .cancelled,
    ]
}
