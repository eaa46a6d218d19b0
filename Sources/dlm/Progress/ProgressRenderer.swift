/// Draws a ``ProgressFrame`` as lines that fit the terminal. Pure.
struct ProgressRenderer {
    /// One less is used: a full line breaks on some terminals.
    var width: Int
    var height: Int
    var style = Style()

    private static let percentWidth = 4
    private static let sizeWidth = 13
    private static let speedWidth = 10
    private static let leftWidth = 7
    private static let gap = 2

    /// Which columns there is room for, beside name and percent.
    private struct Layout {
        var name = 0
        var bar = 0
        var hasSize = false
        var hasSpeed = false
        var hasLeft = false

        /// Of size, speed and time left together.
        var details: Int {
            (hasSize ? gap + sizeWidth : 0) + (hasSpeed ? gap + speedWidth : 0) + (hasLeft ? gap + leftWidth : 0)
        }
    }

    /// At most one line less than the terminal has.
    func lines(_ frame: ProgressFrame) -> [String] {
        let room = max(1, height - 1 - (frame.total == nil ? 0 : 1))
        let rows = frame.rows.prefix(room)
        let names = rows.map { Escaping.line($0.name) }
        let labels = names + [frame.total.map(Self.label)].compactMap(\.self)
        let layout = layout(labels.map(DisplayWidth.of).max() ?? 0)
        var lines = zip(rows, names).map { line($0, name: $1, layout) }
        if let total = frame.total { lines.append(line(total, layout)) }
        return lines
    }

    /// A line of a finished download, which stays.
    func line(_ row: ProgressFrame.Row) -> String {
        let name = Escaping.line(row.name)
        return line(row, name: name, layout(DisplayWidth.of(name)))
    }

    private func layout(_ widest: Int) -> Layout {
        let room = max(1, width - 1)
        let tiers = [
            Layout(bar: 10, hasSize: true, hasSpeed: true, hasLeft: true),
            Layout(hasSize: true, hasSpeed: true, hasLeft: true),
            Layout(hasSpeed: true, hasLeft: true),
            Layout(hasSpeed: true),
            Layout(),
        ]
        var chosen = tiers[tiers.count - 1]
        for tier in tiers {
            let fixed = Self.gap + Self.percentWidth + tier.details + (tier.bar > 0 ? Self.gap + tier.bar : 0)
            if room - fixed >= min(widest, tier.bar > 0 ? 16 : 10) {
                chosen = tier
                break
            }
        }
        let free = room - Self.gap - Self.percentWidth - chosen.details
        if chosen.bar == 0 {
            chosen.name = max(0, min(widest, free))
        } else {
            chosen.name = min(widest, max(16, min(free / 2, free - Self.gap - 20)))
            chosen.bar = min(40, free - Self.gap - chosen.name)
        }
        return chosen
    }

    private func line(_ row: ProgressFrame.Row, name: String, _ layout: Layout) -> String {
        var text = cell(name, layout.name)
        if layout.bar > 0 { text += spaces(Self.gap) + bar(row.received, row.total, row.state, layout.bar) }
        text += spaces(Self.gap) + percent(row.received, row.total)
        switch row.state {
        case .running where row.note == nil:
            return trimmed(text + details(row.received, row.total, row.speed, row.secondsLeft, layout))
        case .complete:
            let size = layout.hasSize ? spaces(Self.gap) + right(Units.size(row.received), Self.sizeWidth) : ""
            return trimmed(text + note(size, row.note ?? "", layout))
        default:
            let size = layout.hasSize ? spaces(Self.gap) + right(part(row.received, row.total), Self.sizeWidth) : ""
            return trimmed(text + note(size, Self.word(row), layout))
        }
    }

    private func line(_ total: ProgressFrame.Total, _ layout: Layout) -> String {
        var text = cell(Self.label(total), layout.name)
        if layout.bar > 0 { text += spaces(Self.gap) + cell(Self.counts(total), layout.bar) }
        text += spaces(Self.gap) + percent(total.received, total.bytes)
        return trimmed(text + details(total.received, total.bytes, total.speed, total.secondsLeft, layout))
    }

    private func details(
        _ received: Int64, _ total: Int64?, _ speed: Double?, _ left: Double?, _ layout: Layout
    ) -> String {
        var text = ""
        if layout.hasSize { text += spaces(Self.gap) + right(part(received, total), Self.sizeWidth) }
        if layout.hasSpeed { text += spaces(Self.gap) + right(speed.map(Units.rate) ?? "", Self.speedWidth) }
        if layout.hasLeft { text += spaces(Self.gap) + right(left.map(Units.time) ?? "", Self.leftWidth) }
        return text
    }

    /// A text in place of speed and time left, and the rest of the line.
    private func note(_ size: String, _ text: String, _ layout: Layout) -> String {
        let room = layout.details - DisplayWidth.of(size) - Self.gap
        return room > 0 ? size + spaces(Self.gap) + DisplayWidth.cut(Escaping.line(text), to: room) : size
    }

    private static func word(_ row: ProgressFrame.Row) -> String {
        switch row.state {
        case .queued: "queued"
        case .paused: "paused"
        case .finishing: "verifying"
        case .waiting(let why): why
        case .running, .complete: row.note ?? ""
        }
    }

    private static func label(_ total: ProgressFrame.Total) -> String { "\(total.downloads) downloads" }

    private static func counts(_ total: ProgressFrame.Total) -> String {
        "\(total.done) done" + (total.failed > 0 ? ", \(total.failed) failed" : "")
    }

    private func percent(_ received: Int64, _ total: Int64?) -> String {
        right(Units.percent(received, of: total).map { "\($0)%" } ?? "", Self.percentWidth)
    }

    private func part(_ received: Int64, _ total: Int64?) -> String { Units.part(received, of: total) }

    private func bar(_ received: Int64, _ total: Int64?, _ state: ProgressFrame.Row.State, _ columns: Int) -> String {
        guard let total else { return style.dim(String(repeating: style.isUnicode ? "─" : " ", count: columns)) }
        let fraction = total == 0 ? 1 : min(1, Double(received) / Double(total))
        let halves = received >= total ? columns * 2 : Int(fraction * Double(columns * 2))
        let full = halves / 2
        let half = halves % 2 == 1
        let rest = columns - full - (half ? 1 : 0)
        guard style.isUnicode else {
            return String(repeating: "=", count: full) + (half ? "-" : "") + String(repeating: " ", count: rest)
        }
        let done = String(repeating: "━", count: full) + (half ? "╸" : "")
        let track = style.dim(String(repeating: style.isColored ? "━" : "─", count: rest))
        return (state == .complete ? style.good(done) : style.accent(done)) + track
    }

    private func cell(_ text: String, _ columns: Int) -> String {
        DisplayWidth.padded(DisplayWidth.cut(text, to: columns), to: columns)
    }

    private func right(_ text: String, _ columns: Int) -> String { DisplayWidth.rightAligned(text, to: columns) }

    private func spaces(_ count: Int) -> String { String(repeating: " ", count: count) }

    private func trimmed(_ text: String) -> String {
        var text = text
        while text.last == " " { text.removeLast() }
        return text
    }
}
