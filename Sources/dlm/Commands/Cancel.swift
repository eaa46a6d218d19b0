import ArgumentParser
import DownloadKit

struct Cancel: ContextCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "Cancel downloads, wherever they run.",
        discussion: """
            The fetched bytes are kept: dlm resume continues a cancelled download, and dlm remove deletes the partial \
            file. --all selects all downloads that are neither completed nor cancelled.
            """)

    @OptionGroup var selection: SelectionOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws { try selection.require() }

    func run(in context: Context) async throws -> Int32 {
        try await Changing(context: context, output: output, event: "cancelled")
            .apply(.cancel, to: selection.chosen(all: List.unfinished))
    }
}
