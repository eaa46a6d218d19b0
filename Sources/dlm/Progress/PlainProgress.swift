import DownloadKit

/// Progress as lines for logs.
enum PlainProgress {
    /// Returns a line for each active download if there are at most four, and the line of the total.
    static func lines(_ frame: ProgressFrame) -> [String] {
        let active = frame.rows.filter(\.isActive)
        var lines = active.count <= 4 ? active.map(line) : []
        if let total = frame.total { lines.append(line(total)) }
        return lines
    }

    private static func line(_ row: ProgressFrame.Row) -> String {
        "\(row.name): \(row.note ?? numbers(row.received, row.total, row.speed, row.time))"
    }

    private static func line(_ total: ProgressFrame.Total) -> String {
        "\(total.label): \(total.counts), \(numbers(total.received, total.bytes, total.speed, total.time))"
    }

    private static func numbers(_ received: Int64, _ total: Int64?, _ speed: Double?, _ left: String?) -> String {
        var parts = [Units.part(received, of: total)]
        if let percent = Units.percent(received, of: total) { parts.insert("\(percent)%", at: 0) }
        if let speed { parts.append(Units.rate(speed)) }
        if let left { parts.append("\(left) left") }
        return parts.joined(separator: ", ")
    }
}
