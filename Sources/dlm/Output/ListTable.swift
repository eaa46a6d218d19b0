/// The rows of `dlm list` as aligned text.
struct ListTable {
    private static let header = ["ID", "STATE", "DONE", "SIZE", "SPEED", "LEFT", "NAME"]

    let rows: [ListDocument]
    let style: Style

    /// Header included; none at all when there is no row.
    var lines: [String] {
        guard !rows.isEmpty else { return [] }
        let table = [Self.header] + rows.map(cells)
        let widths = table.reduce(into: Self.header.map { _ in 0 }) { widths, cells in
            for (index, cell) in cells.enumerated() { widths[index] = max(widths[index], DisplayWidth.of(cell)) }
        }
        return zip([nil] + rows, table).map { row, cells in line(row, cells, widths) }
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
        let name = cells[cells.count - 1]
        let note = row?.note.map { Escaping.line($0) }
        parts.append(note.map { DisplayWidth.padded(name, to: widths[cells.count - 1]) + "  " + style.dim($0) } ?? name)
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
