import ArgumentParser
import DownloadKit
import Foundation

/// `dlm resume ID...`: goes on with downloads, here and now.
struct Resume: ContextCommand {
    static let configuration = CommandConfiguration(
        abstract: "Go on with downloads that were paused, interrupted or failed.",
        discussion: "Ends when all are finished, with their status. Secrets are not stored: give them again with -H.")

    @Argument(
        help: ArgumentHelp("Downloads by number, such as 3 or 5-8.", valueName: "id"),
        transform: IDRange.init(argument:))
    var ids: [IDRange] = []

    @Flag(help: "Everything that dlm list shows.")
    var all = false

    @OptionGroup(title: "Request") var renewable: RenewableOptions
    @OptionGroup(title: "Output") var progress: ProgressOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws {
        if ids.isEmpty != all { throw ValidationError("give either the numbers of downloads or --all") }
    }

    func run(in context: Context) async throws -> Int32 {
        try await context.withService { service in
            let chosen =
                all
                ? try await service.snapshots(DownloadSelection(.states(List.unfinished))).map(\.id).sorted()
                : try await service.known(ids.ids).map(\.id)
            let following = Following(context, output, progress.progress)
            return try await following.follow(service, overrides: renewable.overrides) { follower in
                try await follower.resume(chosen)
            }
        }
    }
}
