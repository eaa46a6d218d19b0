import ArgumentParser
import DownloadKit

struct Wait: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait",
        abstract: "Wait until downloads are finished, and end with their exit status.",
        discussion: """
            Prints the paths of the finished files. Any process may run the downloads, and it may be restarted \
            meanwhile. --all selects all queued, running, waiting and failed downloads. dlm waits for a paused \
            download only if its number is given, or if it was paused after dlm wait began.
            """)

    @OptionGroup var selection: SelectionOptions

    @Flag(help: "End when the first of the downloads is finished.")
    var any = false

    @Option("Give up after this time, with status 1.", value: "time")
    var timeout: Seconds?

    @OptionGroup(title: "Queue") var queue: QueueOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws {
        try queue.require(
            selection, orOfQueue: selection.ids.isEmpty && selection.group.state.isEmpty && !any,
            "waits for the whole queue; give --all, or nothing")
    }

    func run(on queue: QueueCommands) async throws -> Int32 { try await queue.wait(timeout) }

    func run(here context: Context) async throws -> Int32 {
        try await context.withService { service in
            let chosen = selection.chosen(all: List.unfinished.subtracting([.paused]))
            let following = Following(
                context, output, ProgressChoice.none, tellsStanding: context.console.errorsAreTerminal)
            return try await following.follow(service, for: .watch(any: any), limit: timeout) { follower in
                try await service.eachPart(of: chosen) { follower.watch($0) }
            }
        }
    }
}
