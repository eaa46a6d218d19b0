import ArgumentParser
import DownloadKit
import Foundation

/// `dlm get URL...`: downloads here and now.
struct Get: ContextCommand {
    static let configuration = CommandConfiguration(
        abstract: "Download files here and now, and print their paths.",
        discussion: """
            Ends when all are finished. A URL that is being downloaded to the same place already is joined; one that \
            was interrupted is continued.
            """)

    @Argument(help: ArgumentHelp("What to download: http or https.", valueName: "url"))
    var urls: [String] = []

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Also download the URLs in this file, one a line, # for comments; - is standard input.",
            valueName: "file"),
        completion: .file())
    var inputFile: String?

    @OptionGroup(title: "Where") var place: DestinationOptions
    @OptionGroup(title: "How") var transfer: TransferOptions
    @OptionGroup(title: "Request") var renewable: RenewableOptions
    @OptionGroup(title: "Output") var progress: ProgressOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws {
        if urls.isEmpty, inputFile == nil { throw ValidationError("give a URL, or a list with -i") }
        if place.output != nil, urls.count > 1 || inputFile != nil {
            throw ValidationError("-o names one file; give several URLs a folder with -d")
        }
        if transfer.checksum != nil, urls.count > 1 || inputFile != nil {
            throw ValidationError("--checksum belongs to one URL")
        }
    }

    func run(in context: Context) async throws -> Int32 {
        let maker = RequestMaker(self, workingFolder: context.workingFolder)
        let requests = try urls.map { try maker.request($0).get() }
        let list = try inputFile.map { try InputList(path: $0) }
        return try await context.withService(configure) { service in
            let following = Following(context, output, progress.progress)
            return try await following.follow(service, overrides: renewable.overrides) { follower in
                try await follower.add(requests)
                while let lines = try await list?.next(Follower.chunk) {
                    try await follower.add(lines.compactMap { maker.request($0, follower) })
                }
            }
        }
    }

    private func configure(_ configuration: inout SessionConfiguration) {
        guard let limit = transfer.maxConcurrent else { return }
        configuration.maxConcurrent = limit
        configuration.maxPerHost = limit
    }
}
