import DownloadKit
import Foundation

/// Downloads one file: `fetch URL [FOLDER]`. If the program is started again, it continues the download.
@main
struct Fetch {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count > 1 else { fatalError("usage: fetch URL [FOLDER]") }
        let folder = URL(fileURLWithPath: arguments.count > 2 ? arguments[2] : ".", isDirectory: true)

        let session = try await DownloadSession(configuration: .default)
        let task = try await session.download(DownloadRequest(arguments[1]), to: .folder(folder, ifExists: .overwrite))
        for await progress in task.progress {
            print("\(progress.name): \(progress.received) of \(progress.total.map(String.init) ?? "?") bytes")
        }
        print(try await task.value.url.path)
        try await session.finishAndInvalidate()
    }
}
