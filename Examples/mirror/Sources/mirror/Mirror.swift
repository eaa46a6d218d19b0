import Dispatch
import DownloadKit
import Foundation

/// Keeps a folder up to date with a list of URLs, one URL a line: `mirror LIST FOLDER`. Files that the server has not
/// changed since the last run are not fetched again. SIGINT stops the downloads, and the next run continues them.
@main
struct Mirror {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3 else { fatalError("usage: mirror LIST FOLDER") }
        let lines = try String(contentsOfFile: arguments[1], encoding: .utf8).split(whereSeparator: \.isNewline)
        let folder = URL(fileURLWithPath: arguments[2], isDirectory: true)

        var configuration = SessionConfiguration.default
        configuration.maxConcurrent = 4
        let session = try await DownloadSession(configuration: configuration)
        let (interrupts, interrupt) = AsyncStream.makeStream(of: Void.self)
        let source = await onInterrupt { interrupt.yield() }
        let work = Task { try await mirror(lines.map { String($0) }, into: folder, session) }
        Task { for await _ in interrupts { work.cancel() } }
        let result = await work.result
        source.cancel()
        await session.close()
        do { print("\(try result.get()) files are up to date") } catch DownloadError.cancelled {
            print("interrupted")
            exit(130)
        }
    }

    static func mirror(_ urls: [String], into folder: URL, _ session: DownloadSession) async throws -> Int {
        let requests = try urls.map { try DownloadRequest($0) }
        let tasks = try await session.download(requests, to: .folder(folder, ifExists: .newer))
        let display = Task {
            for await progress in session.progress {
                print("\(progress.completed) of \(tasks.count) files, \(progress.received) bytes")
            }
        }
        defer { display.cancel() }
        return try await withThrowingTaskGroup(of: DownloadedFile.self) { group in
            // A task that is cancelled while it waits for its file cancels the download. The resume data stays on disk.
            for task in tasks { group.addTask { try await task.value } }
            var files = 0
            for try await file in group {
                files += 1
                print("\(file.url.path): \(file.wasCurrent ? "is current" : "\(file.byteCount) bytes")")
            }
            return files
        }
    }

    /// Calls an action at each SIGINT. Dispatch installs its handler of the signal some time after the source was made.
    /// This method returns after that, so a SIGINT ends the program at once or is handled, and none is lost.
    static func onInterrupt(_ action: @escaping @Sendable () -> Void) async -> any DispatchSourceSignal {
        let source = DispatchSource.makeSignalSource(signal: SIGINT)
        source.setEventHandler(handler: action)
        await withCheckedContinuation { continuation in
            source.setRegistrationHandler { continuation.resume() }
            source.resume()
        }
        return source
    }
}
