import DownloadKit
import Foundation
import Logging

/// Downloads one file, and logs the events of its session with swift-log: `logged URL [FOLDER]`.
@main
struct Logged {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count > 1 else { fatalError("usage: logged URL [FOLDER]") }
        let folder = URL(fileURLWithPath: arguments.count > 2 ? arguments[2] : ".", isDirectory: true)
        let session = try await DownloadSession(monitors: [EventLogger(Logger(label: "org.example.downloads"))])
        _ = try await session.download(DownloadRequest(arguments[1]), to: .folder(folder)).value
        try await session.finishAndInvalidate()
    }
}
