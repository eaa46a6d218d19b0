import DownloadKit

/// `dlm` without arguments: shows the unfinished downloads, or the first commands to try.
struct Overview: ContextAction {
    static let hint = [
        "Nothing is being downloaded.",
        "  dlm get URL    downloads a file here, and dlm get -b URL in the background",
        "  dlm help       shows all commands, and man dlm explains them",
    ]

    static let liveHint = "dlm watch shows these downloads live, and takes keys."

    func run(in context: Context) async throws -> Int32 {
        let output = OutputOptions()
        return try await context.withService { service in
            var printer = ListPrinter(
                console: context.console, style: context.style(output), isHistory: false, json: false,
                fate: context.fate, time: context.time)
            try await printer.print(.states(List.unfinished), of: service)
            if printer.isEmpty { for line in Self.hint { context.console.note(line) } }
            let running = DownloadSelection(.states([.running, .waiting]), limit: 1)
            if context.console.outputIsTerminal, try await service.snapshots(running).contains(where: \.isAttended) {
                context.console.note(Self.liveHint)
            }
            return 0
        }
    }
}
