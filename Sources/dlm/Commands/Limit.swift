import ArgumentParser
import DownloadKit

/// `dlm limit RATE [ID...]`: changes speed limits while they work.
struct Limit: ContextCommand {
    static let configuration = CommandConfiguration(
        commandName: "limit",
        abstract: "Change the speed limit of downloads, or of everything that runs.",
        discussion: """
            Counts at once. Without downloads it is the limit of each dlm that runs at the moment, for all of its \
            downloads together. --all means each download that is not finished.
            """)

    @Argument(
        help: ArgumentHelp("Bytes per second, such as 500k, 2M, 1.5GiB, or none.", valueName: "rate"),
        completion: .list(["none", "500k", "1M", "10M"]), transform: ByteRate.init(argument:))
    var rate: ByteRate

    @OptionGroup var selection: SelectionOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func run(in context: Context) async throws -> Int32 {
        if selection.isEmpty { return try await context.withService { try await limitSessions($0, context) } }
        return try await Changing(context: context, output: output, event: "changed", text: "limit \(rate)")
            .apply(.rateLimit(rate.limit), to: selection.chosen(all: List.unfinished)) { snapshot in
                snapshot.record.request.rateLimit == rate.limit
                    ? "has that limit already" : "\(snapshot.record.state.kind.rawValue) already"
            }
    }

    private func limitSessions(_ service: any SessionRouting, _ context: Context) async throws -> Int32 {
        let sessions = await service.sessions().map(\.identifier)
        guard !sessions.isEmpty else {
            if !output.quiet {
                context.console.report("nothing runs, and nothing was changed; name downloads by number")
            }
            return 0
        }
        try await service.configure(SessionSettings(rateLimit: rate.limit ?? 0))
        for session in sessions {
            if output.json { context.console.print(LimitDocument(session: session, rateLimit: rate.limit).json) }
            if output.verbose > 0 { context.console.report("session \(session): limit \(rate)") }
        }
        return 0
    }
}
