import ArgumentParser
import DownloadKit

/// `dlm watch [ID...]`: shows the progress of downloads, including those that another process runs.
struct Watch: ContextCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Show the progress of downloads, wherever they run.",
        discussion: """
            Without numbers of downloads, shows all running downloads, also downloads that are added later, until no \
            download runs any more. The exit status is that of the downloads that ended meanwhile. Ctrl-C does not \
            affect the downloads.
            """)

    @OptionGroup var selection: SelectionOptions
    @OptionGroup(title: "Output") var progress: ProgressOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func run(in context: Context) async throws -> Int32 {
        try await context.withService { service in
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
}
