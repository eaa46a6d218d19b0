/// Progress as lines for logs.
enum PlainProgress {
    /// The downloads at work, or the total of many.
    static func lines(_ frame: ProgressFrame) -> [String] {
        let active = frame.rows.filter { $0.state != .queued }
        var lines = active.count <= 4 ? active.map(line) : []
        if let total = frame.total { lines.append(line(total)) }
        return lines
    }

    private static func line(_ row: ProgressFrame.Row) -> String {
        switch row.state {
        case .waiting(let why): return "\(row.name): \(why)"
        case .paused: return "\(row.name): paused"
        case .queued: return "\(row.name): queued"
        case .finishing: return "\(row.name): verifying"
        case .running, .complete: return "\(row.name): \(numbers(row.received, row.total, row.speed, row.secondsLeft))"
        }
    }

    private static func line(_ total: ProgressFrame.Total) -> String {
        var text = "\(total.downloads) downloads: \(total.done) done"
        if total.failed > 0 { text += ", \(total.failed) failed" }
        return "\(text), \(numbers(total.received, total.bytes, total.speed, total.secondsLeft))"
    }

    private static func numbers(_ received: Int64, _ total: Int64?, _ speed: Double?, _ left: Double?) -> String {
        var parts = [Units.part(received, of: total)]
        if let percent = Units.percent(received, of: total) { parts.insert("\(percent)%", at: 0) }
        if let speed { parts.append(Units.rate(speed)) }
        if let left { parts.append("\(Units.time(left)) left") }
        return parts.joined(separator: ", ")
    }
}
