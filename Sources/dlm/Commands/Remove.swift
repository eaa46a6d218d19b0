import ArgumentParser
import DownloadKit
import Foundation

struct Remove: ContextCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Forget downloads and delete their partial files.",
        discussion: """
            Running downloads are stopped first. Finished files are kept unless --delete-file is given. --all \
            selects all completed, failed and cancelled downloads.
            """, aliases: ["rm"])

    @OptionGroup var selection: SelectionOptions

    @Flag(help: "Also delete the finished files.")
    var deleteFile = false

    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws { try selection.require() }

    func run(in context: Context) async throws -> Int32 {
        try await context.withService { service in
            let chosen = selection.chosen(all: [.completed, .failed, .cancelled])
            try await service.eachPart(of: chosen) { part in
                try await service.remove(part.map(\.id), deletesFile: deleteFile)
                for snapshot in part { tell(snapshot, context.console) }
            }
            return 0
        }
    }

    private func tell(_ snapshot: DownloadSnapshot, _ console: Console) {
        if output.json { console.print(EventDocument("removed", snapshot).json) }
        if output.verbose > 0, !output.quiet {
            console.report("\(snapshot.id): \(snapshot.record.displayName): removed")
        }
    }
}
