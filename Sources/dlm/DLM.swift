import ArgumentParser
import DownloadKit

@main
struct DLM: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "dlm", abstract: "A download manager.")
    func run() async throws {}
}
