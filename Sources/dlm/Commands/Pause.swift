import ArgumentParser
import DownloadKit

struct Pause: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Pause downloads, wherever they run.",
        discussion: """
            Returns when the fetched bytes are on disk. A dlm get that waits for a paused download keeps waiting, and \
            continues when the download is resumed. --all selects all downloads that are queued, running, waiting or \
            paused. The paused ones then stay paused when their session starts again.
            """)

    @OptionGroup var selection: SelectionOptions
    @OptionGroup(title: "Queue") var queue: QueueOptions
    @OptionGroup(title: "Queue") var part: QueueHostOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws { try part.validate(selection, queue) }

    func run(on queue: QueueCommands) async throws -> Int32 { try await queue.pause(true, host: part.host) }

    func run(here context: Context) async throws -> Int32 {
        // Paused downloads are included. Otherwise downloads that were paused because the background session was
        // stopped would resume at its next start.
        let active = Set(DownloadState.Kind.allCases.filter { $0.isActive || $0 == .paused })
        return try await Changing(context: context, output: output, event: "paused")
            .apply(.pause, to: selection.chosen(all: active))
    }
}
