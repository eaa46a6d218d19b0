/// Draws a ``ProgressFrame`` as lines that fit the terminal. Pure.
struct ProgressRenderer {
    /// One less is used: a full line breaks on some terminals.
    var width: Int
    var height: Int
    /// Of all names that were shown so far: columns do not move when a download ends.
    var widest = 0
    var style = Style()

    /// Of the names and labels that the lines of a frame show.
    static func widest(_ frame: ProgressFrame) -> Int {
        let labels = frame.rows.map { Escaping.line($0.name) } + [frame.total.map(label)].compactMap(\.self)
        return labels.map(DisplayWidth.of).max() ?? 0
    }

    /// At most one line less than the terminal has.
    func lines(_ frame: ProgressFrame) -> [String] {
        let room = max(1, height - 1 - (frame.total == nil ? 0 : 1))
        let columns = columns(Self.widest(frame))
        return frame.rows.prefix(room).map { line($0, columns) }
            + [frame.total.map { line($0, columns) }].compactMap(\.self)
    }

    /// A line of a finished download, which stays.
    func line(_ row: ProgressFrame.Row) -> String {
        line(row, columns(DisplayWidth.of(Escaping.line(row.name))))
    }

    private func columns(_ widest: Int) -> ProgressColumns {
        ProgressColumns(room: max(1, width - 1), widest: max(widest, self.widest))
    }

    private func line(_ row: ProgressFrame.Row, _ columns: ProgressColumns) -> String {
        let bar = bar(row.received, row.total, row.state, columns.bar)
        let start = start(Escaping.line(row.name), bar, row.received, row.total, columns)
        let part = Units.part(row.received, of: row.total)
        let end =
            switch row.state {
            case .running: details(part, row.speed, row.secondsLeft.map(Units.time), columns)
            case .complete where row.note == nil:
                details(Units.size(row.received), row.speed, row.took.map(Units.duration), columns)
            case .complete: note(Units.size(row.received), row.note ?? "", columns)
            case .queued: note(part, "queued", columns)
            case .paused: note(part, "paused", columns)
            case .finishing: note(part, "verifying", columns)
            case .waiting(let why): note(nil, why, columns)
            }
        return Self.trimmed(start + end)
    }

    private func line(_ total: ProgressFrame.Total, _ columns: ProgressColumns) -> String {
        let counts = "\(total.done) done" + (total.failed > 0 ? ", \(total.failed) failed" : "")
        let start = start(Self.label(total), counts, total.received, total.bytes, columns)
        let part = Units.part(total.received, of: total.bytes)
        return Self.trimmed(start + details(part, total.speed, total.secondsLeft.map(Units.time), columns))
    }

    private static func label(_ total: ProgressFrame.Total) -> String { "\(total.downloads) downloads" }

    /// Name, bar and percent.
    private func start(
        _ name: String, _ bar: String, _ received: Int64, _ total: Int64?, _ columns: ProgressColumns
    ) -> String {
        var text = DisplayWidth.padded(DisplayWidth.cut(name, to: columns.name), to: columns.name)
        if columns.bar > 0 { text += Self.space + DisplayWidth.padded(bar, to: columns.bar) }
        return text + Self.right(Units.percent(received, of: total).map { "\($0)%" }, ProgressColumns.percent)
    }

    private func details(_ size: String, _ speed: Double?, _ time: String?, _ columns: ProgressColumns) -> String {
        (columns.hasSize ? Self.right(size, ProgressColumns.size) : "")
            + (columns.hasSpeed ? Self.right(speed.map(Units.rate), ProgressColumns.speed) : "")
            + (columns.hasLeft ? Self.right(time, ProgressColumns.left) : "")
    }

    /// A text in place of speed and time left, and of the size if there is none.
    private func note(_ size: String?, _ text: String, _ columns: ProgressColumns) -> String {
        let start = size.map { columns.hasSize ? Self.right($0, ProgressColumns.size) : "" } ?? ""
        let room = columns.details - DisplayWidth.of(start) - ProgressColumns.gap
        return room > 0 ? start + Self.space + DisplayWidth.cutEnd(Escaping.line(text), to: room) : start
    }

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

    private static let space = String(repeating: " ", count: ProgressColumns.gap)

    /// A right-aligned column with the gap before it.
    private static func right(_ text: String?, _ columns: Int) -> String {
        space + DisplayWidth.rightAligned(text ?? "", to: columns)
    }

    private static func trimmed(_ text: String) -> String {
        var text = text
        while text.last == " " { text.removeLast() }
        return text
    }
}
