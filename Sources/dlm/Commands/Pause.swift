import ArgumentParser
import DownloadKit

/// `dlm pause ID...`: stops downloads wherever they run, and returns when what was fetched is on disk.
struct Pause: ContextCommand {
    static let configuration = CommandConfiguration(
        abstract: "Pause downloads, wherever they run.",
        discussion: """
            Returns when what was fetched is on disk. A dlm get that waits for a paused download stays, and goes on \
            when it is resumed. --all means everything that runs, waits or is queued.
            """)

    @OptionGroup var selection: SelectionOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws { try selection.require() }

    func run(in context: Context) async throws -> Int32 {
        let active = Set(DownloadState.Kind.allCases.filter(\.isActive))
        return try await Changing(context: context, output: output, event: "paused")
            .apply(.pause, to: selection.chosen(all: active))
    }
}
