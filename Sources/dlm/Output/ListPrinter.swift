import DownloadKit

/// Prints a list page by page: a long one is never in memory as a whole. Columns only grow.
struct ListPrinter {
    let console: Console
    let style: Style
    let isHistory: Bool
    let json: Bool
    private var widths: [Int] = []

    init(console: Console, style: Style, isHistory: Bool, json: Bool) {
        self.console = console
        self.style = style
        self.isHistory = isHistory
        self.json = json
    }

    mutating func print(_ page: [DownloadSnapshot]) {
        let rows = page.map { ListDocument($0, isHistory: isHistory) }
        guard !json else { return rows.forEach { console.print($0.json) } }
        let table = ListTable(
            rows: rows, style: style, columns: console.outputColumns, hasHeader: widths.isEmpty, minimum: widths)
        if !rows.isEmpty { widths = table.widths }
        for line in table.lines { console.print(line) }
    }
}
