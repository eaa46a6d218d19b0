import ArgumentParser
import DownloadKit
import Foundation

struct List: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the downloads that are not finished.",
        discussion: "With --all, finished downloads are listed, too, with the time when they ended and how long they "
            + "took.", aliases: ["ls"])

    /// The states of the downloads that are listed by default, and that `--all` selects in commands such as `resume`.
    static let unfinished = Set(DownloadState.Kind.allCases).subtracting([.completed, .cancelled])

    @Option("List only downloads in this state; repeatable.", value: "state", parsing: .singleValue)
    var state: [DownloadState.Kind] = []

    @Option("List only the newest N downloads.", value: "n", parsing: .unconditional)
    var limit: Int?

    @Flag(help: "List completed and cancelled downloads, too.")
    var all = false

    @OptionGroup(title: "Queue") var queue: QueueOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit \(limit): give 0 or more") }
    }

    func run(on queue: QueueCommands) async throws -> Int32 { try await queue.list(state, all: all, limit: limit) }

    func run(here context: Context) async throws -> Int32 {
        let states = state.isEmpty ? Self.unfinished : Set(state)
        return try await context.withService { service in
            var printer = ListPrinter(context, output, isHistory: all)
            let which: DownloadSelection.Which = all && state.isEmpty ? .all : .states(states)
            if let limit {
                printer.print(try await service.snapshots(DownloadSelection(which, limit: limit)), isLast: true)
            } else {
                try await printer.print(which, of: service)
            }
            if state.isEmpty, limit == nil, !output.quiet { printer.explainNothing() }
            return 0
        }
    }
}

/// `dlm` without arguments: shows the unfinished downloads, or the first commands to try.
struct Overview: ContextAction {
    static let hint = [
        "Nothing is being downloaded.",
        "  dlm get URL    downloads a file here, and dlm get -b URL in the background",
        "  dlm help       shows all commands, and man dlm explains them",
    ]

    func run(in context: Context) async throws -> Int32 {
        try await context.withService { service in
            var printer = ListPrinter(context, OutputOptions())
            try await printer.print(.states(List.unfinished), of: service)
            if printer.isEmpty { for line in Self.hint { context.console.note(line) } }
            return 0
        }
    }
}
