import DownloadKit

/// The printer of `dlm list`. It prints page by page, so that a long list is never in memory as a whole.
struct ListPrinter {
    let console: Console
    let style: Style
    let isHistory: Bool
    let json: Bool
    let fate: Context.FateOfFile
    private let time: any TimeSource
    private var layout: ListTable.Layout?

    init(
        console: Console, style: Style, isHistory: Bool, json: Bool, fate: @escaping Context.FateOfFile,
        time: any TimeSource
    ) {
        self.fate = fate
        self.time = time
        self.console = console
        self.style = style
        self.isHistory = isHistory
        self.json = json
    }

    /// Prints a page.
    /// - Parameter isLast: Whether this is the last page.
    mutating func print(_ page: [DownloadSnapshot], isLast: Bool) {
        let now = time.date
        let rows = page.map { DownloadDocument(row: $0, isHistory: isHistory, fate: fate($0.record), now: now) }
        guard !json else { return rows.forEach { console.print($0.json) } }
        let table = ListTable(
            rows: rows, style: style, columns: console.outputColumns, before: layout, isLast: isLast)
        if !rows.isEmpty { layout = table.layout }
        for line in table.lines { console.print(line) }
    }

    /// Reports that there was nothing to print, if both output streams are terminals.
    func explainNothing() {
        guard layout == nil, !json, console.outputIsTerminal, console.errorsAreTerminal else { return }
        console.report(isHistory ? "there are no downloads" : "there are no unfinished downloads; see: dlm list --all")
    }
}
