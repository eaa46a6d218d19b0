import ArgumentParser
import DownloadKit
import Foundation

struct Show: StoreCommand {
    static let configuration = CommandConfiguration(commandName: "show", abstract: "Show everything about downloads.")

    @Argument(
        help: ArgumentHelp("Numbers of downloads, such as 3 or 5-8.", valueName: "id"),
        completion: DownloadCompletion.ids, transform: IDRange.init(argument:))
    var ids: [IDRange]

    @OptionGroup(title: "Queue") var queue: QueueOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func run(on queue: QueueCommands) async throws -> Int32 { try await queue.show(ids.ids) }

    func run(here context: Context) async throws -> Int32 {
        try await context.withService { service in
            let now = context.time.date
            let documents = try await service.known(ids.ids, isDetailed: true).map {
                DownloadDocument($0, fate: context.fate($0.record), now: now)
            }
            let style = context.style(output)
            for document in documents {
                let lines = output.json ? [document.json] : ShowText(document: document, style: style).lines
                for line in lines { context.console.print(line) }
            }
            return 0
        }
    }
}
