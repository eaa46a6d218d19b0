import ArgumentParser
import DownloadKit

struct Limit: ContextCommand {
    static let configuration = CommandConfiguration(
        commandName: "limit",
        abstract: "Show or change the speed limit of sessions or of downloads.",
        discussion: """
            Without a rate, shows the current limits: of each dlm that is running, and of each unfinished download \
            that has a limit. A new limit applies at once. If no downloads are selected, it applies to each dlm that is \
            running now, for all of its downloads together. --all selects all unfinished downloads.
            """)

    @Argument(
        help: ArgumentHelp("The limit in bytes per second, such as 500k, 2M or 1.5GiB, or none.", valueName: "rate"),
        completion: .list(["none", "500k", "1M", "10M"]), transform: ByteRate.init(argument:))
    var rate: ByteRate?

    @OptionGroup var selection: SelectionOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws {
        if rate == nil, !selection.isEmpty {
            throw ValidationError(
                "give a rate before the downloads: a number such as 500k, or the word none")
        }
    }

    func run(in context: Context) async throws -> Int32 {
        guard let rate else { return try await context.withService { try await show($0, context.console) } }
        if selection.isEmpty { return try await context.withService { try await limitSessions($0, rate, context) } }
        return try await Changing(context: context, output: output, event: "changed", text: "limit \(rate)")
            .apply(.rateLimit(rate.limit), to: selection.chosen(all: List.unfinished)) { snapshot in
                snapshot.record.request.rateLimit == rate.limit
                    ? "has that limit already" : "\(snapshot.record.state.kind.rawValue) already"
            }
    }

    private func show(_ service: any SessionRouting, _ console: Console) async throws -> Int32 {
        var isNothing = true
        var status: Int32 = 0
        for (session, answer) in await service.sessions() {
            isNothing = false
            switch answer {
            case .success(let found):
                let limit = found.settings.rateLimit.flatMap { $0 > 0 ? $0 : nil }
                let document = LimitDocument(event: "limit", session: session, rateLimit: limit)
                console.print(document, output) {
                    [Escaping.line("session \(session): limit \(ByteRate.text(limit))")]
                }
            case .failure(let error as DownloadError):
                console.report("session \(session): \(Redaction.describe(error))")
                status = error.exitStatus
            case .failure(let error): throw error
            }
        }
        try await service.eachPart(of: .states(List.unfinished)) { part in
            for snapshot in part {
                guard let limit = snapshot.record.request.rateLimit else { continue }
                isNothing = false
                let text = "\(snapshot.id): \(snapshot.record.displayName): limit \(ByteRate.text(limit))"
                console.print(EventDocument("limit", snapshot), output) { [Escaping.line(text)] }
            }
        }
        if isNothing, !output.quiet { console.report("no dlm is running, and no download has a limit") }
        return status
    }

    private func limitSessions(_ service: any SessionRouting, _ rate: ByteRate, _ context: Context) async throws
        -> Int32
    {
        let sessions = await service.sessions().map(\.identifier)
        guard !sessions.isEmpty else {
            if !output.quiet {
                context.console.report(
                    "no dlm is running, so nothing was changed; to limit downloads, give their numbers")
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
