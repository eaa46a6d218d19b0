import ArgumentParser
import DownloadKit
import Foundation

/// `dlm list`: the downloads, one a line.
struct List: ContextCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the downloads that are not finished.", aliases: ["ls"])

    /// What is listed unless asked otherwise, and what `resume --all` means.
    static let unfinished = Set(DownloadState.Kind.allCases).subtracting([.completed, .cancelled])

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp("Only downloads in this state; repeatable.", valueName: "state"))
    var state: [DownloadState.Kind] = []

    @Option(parsing: .unconditional, help: ArgumentHelp("Only the newest so many.", valueName: "n"))
    var limit: Int?

    @Flag(help: "Also the completed and cancelled ones.")
    var all = false

    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit \(limit): give 0 or more") }
    }

    func run(in context: Context) async throws -> Int32 {
        let states = state.isEmpty ? Self.unfinished : Set(state)
        let which: DownloadSelection.Which = all && state.isEmpty ? .all : .states(states)
        return try await context.withService { service in
            let snapshots = try await service.snapshots(DownloadSelection(which, limit: limit))
            let rows = snapshots.map { ListDocument($0) }
            let style = context.style(output)
            let table = ListTable(rows: rows, style: style, columns: context.console.outputColumns)
            for line in output.json ? rows.map(\.json) : table.lines { context.console.print(line) }
            return 0
        }
    }
}
