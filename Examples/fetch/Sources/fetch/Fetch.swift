import DownloadKit
import Foundation

/// Downloads one file: `fetch URL [FOLDER]`. If the program is started again, it continues the download.
@main
struct Fetch {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count > 1 else { fatalError("usage: fetch URL [FOLDER]") }
        let folder = URL(fileURLWithPath: arguments.count > 2 ? arguments[2] : ".", isDirectory: true)
        let request = try DownloadRequest(arguments[1])
        print(try await DownloadSession.download(request, to: .folder(folder, ifExists: .overwrite)).url.path)
    }
}
