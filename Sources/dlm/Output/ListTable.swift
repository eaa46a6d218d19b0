/// The rows of `dlm list` as aligned text.
struct ListTable {
    private static let header = ["ID", "STATE", "DONE", "SIZE", "SPEED", "LEFT", "NAME"]

    /// A name is not cut below this, whatever the terminal.
    private static let shortestName = 16

    let rows: [ListDocument]
    let style: Style
    /// Of the terminal; nil cuts nothing.
    var columns: Int?

    /// The first page of a list.
    var hasHeader = true
    /// Widths of the pages before.
    var minimum: [Int] = []

    /// Header included; none at all when there is no row.
    var lines: [String] {
        guard !rows.isEmpty else { return [] }
        let widths = widths
        let header = hasHeader ? [line(nil, Self.header, widths)] : []
        return header + rows.map { line($0, cells($0), widths) }
    }

    /// Of the columns.
    var widths: [Int] {
        let table = [Self.header] + rows.map(cells)
        let start = minimum.isEmpty ? Self.header.map { _ in 0 } : minimum
        var widths = table.reduce(into: start) { widths, cells in
            for (index, cell) in cells.enumerated() { widths[index] = max(widths[index], DisplayWidth.of(cell)) }
        }
        if let columns {
            let room = columns - widths.dropLast().reduce(1) { $0 + $1 + 2 }
            let note = rows.compactMap(\.note).map { DisplayWidth.of(Escaping.line($0)) + 2 }.max() ?? 0
            let name = min(widths[widths.count - 1], max(Self.shortestName, room / 2, room - note))
            widths[widths.count - 1] = name
        }
        return widths
    }

    private func cells(_ row: ListDocument) -> [String] {
        [
            String(row.id), row.state, row.percent.map { "\($0)%" } ?? "-",
            row.total.map(Units.size) ?? (row.received > 0 ? Units.size(row.received) : "-"),
            row.speed.map(Units.rate) ?? "-", row.secondsLeft.map(Units.left) ?? "-", Escaping.line(row.name),
        ]
    }

    private func line(_ row: ListDocument?, _ cells: [String], _ widths: [Int]) -> String {
        var parts: [String] = []
        for (index, cell) in cells.dropLast().enumerated() {
            let isState = index == 1
            let padded =
                isState
                ? DisplayWidth.padded(cell, to: widths[index]) : DisplayWidth.rightAligned(cell, to: widths[index])
            parts.append(isState ? colored(padded, row) : padded)
        }
        let width = widths[cells.count - 1]
        parts.append(DisplayWidth.cut(cells[cells.count - 1], to: width))
        if let note = row?.note {
            let room = columns.map { $0 - widths.reduce(1) { $0 + $1 + 2 } } ?? .max
            parts[parts.count - 1] = DisplayWidth.padded(parts[parts.count - 1], to: width)
            parts.append(style.dim(DisplayWidth.cutEnd(Escaping.line(note), to: room)))
        }
        return " " + parts.joined(separator: "  ")
    }

    private func colored(_ text: String, _ row: ListDocument?) -> String {
        switch row?.state {
        case nil: text
        case "failed": style.bad(text)
        case "completed": style.good(text)
        case "running": style.accent(text)
        default: text
        }
    }
}
