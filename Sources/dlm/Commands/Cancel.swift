import ArgumentParser
import DownloadKit

/// `dlm cancel ID...`: cancels downloads, but keeps the bytes that were fetched.
struct Cancel: ContextCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "End downloads, wherever they run.",
        discussion: """
            What was fetched is kept: dlm resume goes on with a cancelled download, dlm remove forgets it. --all means \
            everything that is neither completed nor cancelled.
            """)

    @OptionGroup var selection: SelectionOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws { try selection.require() }

    func run(in context: Context) async throws -> Int32 {
        try await Changing(context: context, output: output, event: "cancelled")
            .apply(.cancel, to: selection.chosen(all: List.unfinished))
    }
}
