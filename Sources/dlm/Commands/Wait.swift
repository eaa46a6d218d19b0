import ArgumentParser
import DownloadKit

/// `dlm wait ID...`: waits until downloads are finished, in whichever process they run.
struct Wait: ContextCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait",
        abstract: "Wait until downloads are finished, and end with their status.",
        discussion: """
            Prints the paths of the finished files. It does not matter who runs them, nor whether that is restarted \
            meanwhile. --all means everything that runs or waits for its turn, and what has failed; a paused one is \
            waited for when it is named, or paused meanwhile.
            """)

    @OptionGroup var selection: SelectionOptions

    @Flag(help: "Until the first of them is finished.")
    var any = false

    @Option(
        help: ArgumentHelp("Give up after so long, with status 1.", valueName: "time"),
        transform: Seconds.init(argument:))
    var timeout: Seconds?

    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws { try selection.require() }

    func run(in context: Context) async throws -> Int32 {
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
