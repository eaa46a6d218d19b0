import ArgumentParser
import DownloadKit
import Foundation

/// `dlm remove ID...`: forgets downloads.
struct Remove: ContextCommand {
    static let configuration = CommandConfiguration(
        abstract: "Forget downloads and delete their partial files.",
        discussion: "A finished file stays, unless --delete-file is given.", aliases: ["rm"])

    @Argument(
        help: ArgumentHelp("Downloads by number, such as 3 or 5-8.", valueName: "id"),
        transform: IDRange.init(argument:))
    var ids: [IDRange]

    @Flag(help: "Also delete the finished files.")
    var deleteFile = false

    @OptionGroup(title: "Output") var output: OutputOptions

    func run(in context: Context) async throws -> Int32 {
        try await context.withService { service in
            let snapshots = try await service.known(ids.ids)
            try await service.remove(snapshots.map(\.id), deletesFile: deleteFile)
            for snapshot in snapshots {
                if output.json { context.console.print(EventDocument("removed", snapshot).json) }
                if output.verbose > 0 {
                    context.console.report("\(snapshot.id): \(snapshot.record.displayName): removed")
                }
            }
            return 0
        }
    }
}
