import DownloadKit

/// The renderer that turns a ``ProgressFrame`` into lines that fit the terminal.
struct ProgressRenderer {
    var size: (columns: Int, rows: Int)
    var style = Style()
    /// The width of the widest name so far. Columns keep this width, because columns that jump are hard to read.
    var widest = 0

    /// Returns the lines of a frame. They fill at most half of the terminal, or four rows if the terminal is very
    /// small, so that the lines of complete downloads above them can be read. If there is no room for all rows, active
    /// downloads come first, then failed downloads, and a line shows the number of the others.
    mutating func lines(_ frame: ProgressFrame) -> [String] {
        var room = max(0, max(size.rows / 2, min(size.rows - 1, 4)) - (frame.total == nil ? 0 : 1))
        var all = frame.rows
        if room > 1, frame.rows.count > room || frame.queued > 0 {
            all = frame.rows.filter(\.isActive) + frame.failures + frame.rows.filter { !$0.isActive }
            room = min(all.count, room - 1)
        }
        let rows = all.prefix(room)
        let names = rows.map { Escaping.line($0.name) }
        widest = (names + [frame.total?.label ?? ""]).reduce(widest) { max($0, DisplayWidth.of($1)) }
        let layout = ProgressLayout(width: size.columns, widest: widest)
        var lines = zip(rows, names).map { line($0, name: $1, layout) }
        if room > 0, let more = HiddenRows.line(all.dropFirst(room), queued: frame.queued) {
            lines.append(style.dim(DisplayWidth.cutEnd(more, to: max(1, size.columns - 1))))
        }
        if let total = frame.total { lines.append(line(total, layout)) }
        return lines
    }

    /// Returns the line of a complete download, which stays on the terminal.
    mutating func line(_ row: ProgressFrame.Row) -> String {
        let name = Escaping.line(row.name)
        widest = max(widest, DisplayWidth.of(name))
        return line(row, name: name, ProgressLayout(width: size.columns, widest: widest))
    }

    private func line(_ row: ProgressFrame.Row, name: String, _ layout: ProgressLayout) -> String {
        let name = cell(name, layout.name)
        if let note = row.note { return joined([name] + noted(row, Escaping.line(note), layout)) }
        if row.total == nil, !layout.hasSize, layout.bar == 0, layout.hasTime {
            let known = [Units.part(row.received, of: nil)] + (layout.hasSpeed ? [row.speed.map(Units.rate) ?? ""] : [])
            return joined([name, right(known.joined(separator: "  "), layout.noteRooms.all)])
        }
        var cells = [name] + bar(row, layout)
        cells.append(percent(row.received, row.total))
        if layout.hasSize { cells.append(right(Units.part(row.received, of: row.total), ProgressLayout.size)) }
        return joined(cells + numbers(row.speed, row.time, layout))
    }

    /// Returns the cells after the name, for a row with a note. A long note replaces more of the other cells.
    private func noted(_ row: ProgressFrame.Row, _ note: String, _ layout: ProgressLayout) -> [String] {
        let (short, long, all) = layout.noteRooms
        let width = DisplayWidth.of(note)
        func told(_ room: Int) -> [String] {
            room > 0 ? [colored(DisplayWidth.cutEnd(note, to: room), row)] : []
        }
        // Before the first byte, the note is more useful than an empty bar.
        let saysMore = row.received == 0 && row.total == nil || layout.bar == 0 && width > long && layout.hasTime
        if saysMore { return told(all) }
        let cells = bar(row, layout) + [percent(row.received, row.total)]
        guard layout.hasSize, width <= short else { return cells + told(long) }
        return cells + [right(Units.part(row.received, of: row.total), ProgressLayout.size)] + told(short)
    }

    /// Returns the cell of the bar, or the received bytes if no size is known and there is no column for sizes.
    private func bar(_ row: ProgressFrame.Row, _ layout: ProgressLayout) -> [String] {
        if layout.bar == 0 { return [] }
        if row.total == nil, !layout.hasSize { return [right(Units.part(row.received, of: nil), layout.bar)] }
        let bar = ProgressBar(received: row.received, total: row.total, columns: layout.bar)
        return [bar.text(style, isAtWork: row.state == .running)]
    }

    private func line(_ total: ProgressFrame.Total, _ layout: ProgressLayout) -> String {
        var cells: [String]
        if DisplayWidth.of(total.counts) <= layout.bar {
            cells = [cell(total.label, layout.name), DisplayWidth.padded(total.counts, to: layout.bar)]
        } else {
            let room = layout.name + (layout.bar > 0 ? ProgressLayout.gap + layout.bar : 0)
            cells = [DisplayWidth.padded(DisplayWidth.cutEnd(total.inShort, to: room), to: room)]
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

    private func colored(_ note: String, _ row: ProgressFrame.Row) -> String {
        switch row.state {
        case .running: note
        case .queued, .paused: style.dim(note)
        case .waiting, .completed, .failed, .cancelled: style.state(row.state, note)
        }
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

/// A bar in steps of half a column.
struct ProgressBar {
    var received: Int64
    var total: Int64?
    var columns: Int

    /// - Parameter isAtWork: Whether the download is running. Otherwise an incomplete bar is dim.
    func text(_ style: Style, isAtWork: Bool = true) -> String {
        let halves = halves
        let full = halves / 2
        let hasHalf = halves % 2 == 1
        let rest = columns - full - (hasHalf ? 1 : 0)
        let (line, half, track) = style.isUnicode ? ("━", "╸", "─") : ("=", "-", " ")
        let done = String(repeating: line, count: full) + (hasHalf ? half : "")
        let isComplete = full == columns
        let filled = isComplete ? style.good(done) : isAtWork ? style.accent(done) : style.dim(done)
        return filled + style.dim(String(repeating: track, count: rest))
    }

    /// The number of filled half columns. All half columns are filled only if all bytes were received.
    private var halves: Int {
        guard let total else { return 0 }
        if received >= total { return columns * 2 }
        return Int(max(0, min(Double(received) / Double(total) * Double(columns * 2), Double(columns * 2 - 1))))
    }
}
