import DownloadKit

/// The rows of `dlm list` as aligned text that fits the terminal.
struct ListTable {
    /// The columns that are shown, which are the same on all pages of a list, and their widths, which only grow.
    struct Layout: Equatable {
        var isShown = ListTable.header.map { _ in true }
        var widths = ListTable.header.map { DisplayWidth.of($0) }

        fileprivate var fixed: Int {
            zip(isShown, widths).dropLast().reduce(ListTable.margin) { $0 + ($1.0 ? $1.1 + ListTable.gap : 0) }
        }
    }

    private static let header = ["ID", "STATE", "DONE", "SIZE", "SPEED", "LEFT", "NAME"]
    private static let state = 1
    private static let name = 6
    /// The indices of the columns that can be left out, the least important column first.
    private static let optional = [4, 5, 3, 2]
    private static let margin = 1
    private static let gap = 2
    private static let nothing = "-"
    /// The shortest width to which names are cut. Before names become shorter, other columns are left out.
    private static let shortestName = 16
    /// The shortest width to which a note is cut. A longer note is left out, because a few letters are useless.
    private static let shortestNote = 8

    let rows: [DownloadDocument]
    let style: Style
    /// The width of the terminal; nil to show all columns and cut nothing.
    var columns: Int?
    /// The layout of the page before; nil for the first page, which has the header.
    var before: Layout?
    /// Whether this is the last page. If so, an empty column can be left out to make room for names and notes.
    var isLast = true

    var lines: [String] {
        guard !rows.isEmpty else { return [] }
        let layout = layout
        let header = before == nil ? [line(nil, Self.header, layout)] : []
        return header + rows.map { line($0, cells($0), layout) }
    }

    var layout: Layout {
        var layout = before ?? Layout()
        let table = rows.map(cells)
        for cells in table {
            for (index, cell) in cells.enumerated() {
                layout.widths[index] = max(layout.widths[index], DisplayWidth.of(cell))
            }
        }
        guard let columns else { return layout }
        let notes = rows.compactMap(\.note).map { DisplayWidth.of(Escaping.line($0)) + Self.gap }.max() ?? 0
        let widest = layout.widths[Self.name]
        if before == nil {
            for index in Self.optional where layout.fixed + widest + notes > columns {
                if isLast, table.allSatisfy({ $0[index] == Self.nothing }) { layout.isShown[index] = false }
            }
            for index in Self.optional where layout.fixed + min(widest, Self.shortestName) > columns {
                layout.isShown[index] = false
            }
        }
        let room = columns - layout.fixed
        layout.widths[Self.name] = max(1, min(widest, max(min(room, Self.shortestName), room / 2, room - notes)))
        return layout
    }

    private func cells(_ row: DownloadDocument) -> [String] {
        let (record, progress) = (row.snapshot.record, row.snapshot.progress)
        return [
            String(record.id), record.state.kind.rawValue, row.percent.map { "\($0)%" } ?? Self.nothing,
            progress.total.map(Units.size) ?? (progress.received > 0 ? Units.size(progress.received) : Self.nothing),
            progress.speed.map(Units.rate) ?? Self.nothing, row.secondsLeft.map(Units.left) ?? Self.nothing,
            Escaping.line(record.displayName),
        ]
    }

    private func line(_ row: DownloadDocument?, _ cells: [String], _ layout: Layout) -> String {
        var parts: [String] = []
        for (index, cell) in cells.dropLast().enumerated() where layout.isShown[index] {
            let width = layout.widths[index]
            parts.append(
                index == Self.state
                    ? style.state(row?.snapshot.record.state.kind, DisplayWidth.padded(cell, to: width))
                    : DisplayWidth.rightAligned(cell, to: width))
        }
        let width = layout.widths[Self.name]
        let name = DisplayWidth.cut(cells[Self.name], to: width)
        let room = columns.map { $0 - layout.fixed - width - Self.gap } ?? .max
        if let note = row?.note.map(Escaping.line), DisplayWidth.of(note) <= room || room >= Self.shortestNote {
            parts += [DisplayWidth.padded(name, to: width), style.dim(DisplayWidth.cutEnd(note, to: room))]
        } else {
            parts.append(name)
        }
        return String(repeating: " ", count: Self.margin)
            + parts.joined(separator: String(repeating: " ", count: Self.gap))
    }
}
