import ArgumentParser
import DownloadKit

struct Watch: ContextCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Show the progress of downloads, wherever they run.",
        discussion: """
            On a terminal, without numbers of downloads, shows a list of all downloads that is controlled with keys; \
            press ? for the keys, and q to leave, with status 0. The downloads go on. With --plain or --progress, or \
            without a terminal, shows all running downloads, also downloads that are added later, until no download \
            runs any more. The exit status is that of the downloads that ended meanwhile. Ctrl-C does not affect the \
            downloads. dlm wait waits for downloads without showing them.
            """)

    @OptionGroup var selection: SelectionOptions

    @Flag(help: "Show only the progress, without the list and its keys.")
    var plain = false

    @OptionGroup(title: "Output") var progress: ProgressOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func run(in context: Context) async throws -> Int32 {
        try await context.withService { service in
            if let screen = screen(context) {
                return try await LiveWatch(service, context, screen, style: context.style(output)).run()
            }
            let chosen = selection.isEmpty ? nil : selection.chosen(all: List.unfinished)
            // Without given downloads, a paused download disappears from the display, so a message reports the pause.
            let following = Following(
                context, output, progress.progress, auto: output.json ? .none : .plain,
                tellsStanding: selection.isEmpty ? true : nil)
            let purpose: Follower.Purpose = selection.isEmpty ? .watchAll : .watch(any: false)
            return try await following.follow(service, for: purpose) { follower in
                if let chosen { try await service.eachPart(of: chosen) { follower.watch($0) } }
            }
        }
    }

    /// Returns the screen for the list with its keys; nil if only the progress is shown.
    private func screen(_ context: Context) -> TerminalScreen? {
        let isAuto = (progress.progress ?? context.knownSettings.progress) == .auto
        guard selection.isEmpty, isAuto, !plain, !output.json, !output.quiet else { return nil }
        return TerminalScreen(context.console, environment: context.environment)
    }
}
