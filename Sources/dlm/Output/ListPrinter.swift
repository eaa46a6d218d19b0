import DownloadKit

/// The printer of `dlm list`. It prints page by page, so that a long list is never in memory as a whole.
struct ListPrinter {
    let console: Console
    let style: Style
    let isHistory: Bool
    let json: Bool
    let fate: Context.FateOfFile
    let time: any TimeSource
    private(set) var layout: ListTable.Layout?

    /// - Parameter isHistory: Whether ended downloads are listed, too.
    init(_ context: Context, _ output: OutputOptions, isHistory: Bool = false) {
        (console, fate, time, style) = (context.console, context.fate, context.time, context.style(output))
        (self.isHistory, json) = (isHistory, output.json)
    }

    mutating func print(_ which: DownloadSelection.Which, of service: any DownloadService) async throws {
        try await service.eachPage(of: which) { page in
            print(page, isLast: page.count < Follower.chunk)
            return !console.isOutputClosed
        }
    }

    var isEmpty: Bool { layout == nil }

    mutating func print(_ page: [DownloadSnapshot], isLast: Bool) {
        let now = time.date
        let rows = page.map { DownloadDocument(row: $0, isHistory: isHistory, fate: fate($0.record), now: now) }
        guard !json else { return rows.forEach { console.print($0.json) } }
        let table = ListTable(
            rows: rows, style: style, columns: console.outputColumns, before: layout, isLast: isLast)
        if !rows.isEmpty { layout = table.layout }
        for line in table.lines { console.print(line) }
    }

    func explainNothing() {
        guard isEmpty, !json, console.outputIsTerminal, console.errorsAreTerminal else { return }
        console.report(isHistory ? "there are no downloads" : "there are no unfinished downloads; see: dlm list --all")
    }
}
