import DownloadKit

/// The line for the downloads that have no row because there is no room: `… 91 more: 29 running, 1 waiting, 61 queued`.
enum HiddenRows {
    static func line(_ rows: ArraySlice<ProgressFrame.Row>, queued: Int) -> String? {
        var counts = rows.reduce(into: [:]) { $0[$1.state, default: 0] += 1 }
        counts[.queued, default: 0] += queued
        let parts = order.compactMap { state in
            counts[state].flatMap { $0 > 0 ? "\($0) \(state.rawValue)" : nil }
        }
        let count = rows.count + queued
        guard parts.count == 1, let state = order.first(where: { counts[$0] == count }) else {
            return parts.isEmpty ? nil : "… \(count) more: \(parts.joined(separator: ", "))"
        }
        return "… \(count) more \(state.rawValue)"
    }

    private static let order: [DownloadState.Kind] = [
        .running, .waiting, .paused, .queued, .completed, .failed, .cancelled,
    ]
}
