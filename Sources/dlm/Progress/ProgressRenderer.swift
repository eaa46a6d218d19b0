/// Draws a ``ProgressFrame`` as lines that fit the terminal. Pure.
struct ProgressRenderer {
    var width: Int
    var height: Int
    var style = Style()
    /// The widest name there was: columns that jump are hard to read.
    var widest = 0

    /// At most half of the terminal: what is complete scrolls away above, and wants to be read.
    mutating func lines(_ frame: ProgressFrame) -> [String] {
        let room = max(0, max(height / 2, min(height - 1, 4)) - (frame.total == nil ? 0 : 1))
        let rows = frame.rows.prefix(room)
        let names = rows.map { Escaping.line($0.name) }
        widest = (names + [frame.total?.label ?? ""]).reduce(widest) { max($0, DisplayWidth.of($1)) }
        let layout = ProgressLayout(width: width, widest: widest)
        var lines = zip(rows, names).map { line($0, name: $1, layout) }
        if let total = frame.total { lines.append(line(total, layout)) }
        return lines
    }

    /// A line that stays: of a download that is complete.
    mutating func line(_ row: ProgressFrame.Row) -> String {
        let name = Escaping.line(row.name)
        widest = max(widest, DisplayWidth.of(name))
        return line(row, name: name, ProgressLayout(width: width, widest: widest))
    }

    private func line(_ row: ProgressFrame.Row, name: String, _ layout: ProgressLayout) -> String {
        var cells = [cell(name, layout.name)]
        if layout.bar > 0 {
            cells.append(ProgressBar(received: row.received, total: row.total, columns: layout.bar).text(style))
        }
        cells.append(percent(row.received, row.total))
        // Before the first byte a note has more to say than a size.
        let hasSize = layout.hasSize && (row.note == nil || row.received > 0 || row.total != nil)
        if hasSize { cells.append(right(Units.part(row.received, of: row.total), ProgressLayout.size)) }
        if let note = row.note {
            let room = (hasSize ? layout.note : layout.details) - ProgressLayout.gap + layout.spare
            if room > 0 { cells.append(DisplayWidth.cutEnd(Escaping.line(note), to: room)) }
        } else {
            cells += numbers(row.speed, row.time, layout)
        }
        return joined(cells)
    }

    private func line(_ total: ProgressFrame.Total, _ layout: ProgressLayout) -> String {
        var cells = [cell(total.label, layout.name)]
        if layout.bar > 0 {
            cells.append(DisplayWidth.padded(DisplayWidth.cutEnd(total.counts, to: layout.bar), to: layout.bar))
        }
        cells.append(percent(total.received, total.bytes))
        if layout.hasSize { cells.append(right(Units.part(total.received, of: total.bytes), ProgressLayout.size)) }
        return joined(cells + numbers(total.speed, total.time, layout))
    }

    private func numbers(_ speed: Double?, _ time: String?, _ layout: ProgressLayout) -> [String] {
        var cells: [String] = []
        if layout.hasSpeed { cells.append(right(speed.map(Units.rate) ?? "", ProgressLayout.speed)) }
        if layout.hasTime { cells.append(right(time ?? "", ProgressLayout.time)) }
        return cells
    }

    private func percent(_ received: Int64, _ total: Int64?) -> String {
        right(Units.percent(received, of: total).map { "\($0)%" } ?? "", ProgressLayout.percent)
    }

    private func cell(_ text: String, _ columns: Int) -> String {
        DisplayWidth.padded(DisplayWidth.cut(text, to: columns), to: columns)
    }

    private func right(_ text: String, _ columns: Int) -> String { DisplayWidth.rightAligned(text, to: columns) }

    private func joined(_ cells: [String]) -> String {
        var text = cells.joined(separator: String(repeating: " ", count: ProgressLayout.gap))
        while text.last == " " { text.removeLast() }
        return text
    }
}
