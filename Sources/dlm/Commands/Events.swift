import ArgumentParser
import DownloadKit

/// `dlm events`: every change of every download as JSON.
struct Events: ContextCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "Print every change of every download, one JSON value a line.",
        discussion: """
            Each line has a cursor: dlm events --since CURSOR delivers what happened behind it, each event once and in \
            order, then a line with the event didFinishEvents, and then what happens from now on. An event didLoseEvents \
            says that those up to its cursor were too old to be kept.
            """)

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Begin with the events behind this one; 0 for all there are.", valueName: "cursor"))
    var since: EventCursor?

    @Flag(help: "End after what has happened already.")
    var once = false

    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws {
        if let since, since < 0 { throw ValidationError("--since \(since): give a cursor, or 0 for all events") }
    }

    func run(in context: Context) async throws -> Int32 {
        try await context.withService { service in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await tell(service.log(since: since), context.console) }
                group.addTask { await context.console.outputClosed() }
                try await group.next()
                group.cancelAll()
            }
            return 0
        }
    }

    private func tell(_ log: AsyncThrowingStream<LogEntry, any Error>, _ console: Console) async throws {
        for try await entry in log {
            console.print(LogDocument(entry).json)
            if once, case .didFinishEvents = entry { return }
        }
    }
}
