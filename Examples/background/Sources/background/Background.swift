import DownloadKit
import Foundation

/// Starts downloads that continue after this process has ended, and finds them again.
///
///     background FOLDER URL...    adds downloads, and ends at once
///     background                  finds the downloads, prints what happened meanwhile, and waits for them
///     background host             runs the session; the other commands start it
@main
struct Background {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        var configuration = SessionConfiguration.background(identifier: "org.example.background")
        if arguments == ["host"] {
            return try await DownloadSession.runBackground(configuration, idleTimeout: .seconds(10))
        }
        configuration.host = .thisExecutable(arguments: ["host"])
        let session = try await DownloadSession(configuration: configuration)
        if let folder = arguments.first {
            try await add(Array(arguments.dropFirst()), to: URL(fileURLWithPath: folder, isDirectory: true), session)
        } else {
            try await find(session)
        }
        // The session continues in its own process.
        await session.close()
    }

    static func add(_ urls: [String], to folder: URL, _ session: DownloadSession) async throws {
        for url in urls {
            let task = try await session.download(DownloadRequest(url), to: .folder(folder))
            print("\(task.id): added")
        }
    }

    static func find(_ session: DownloadSession) async throws {
        // A real program saves the cursor of the last event that it has handled, and passes it here.
        for try await entry in try await session.events(since: nil) {
            if case .event(let event) = entry { print("\(event.id): \(event.kind.rawValue)") }
            if case .didFinishEvents = entry { break }
        }
        for task in try await session.tasks {
            print("\(task.id): found")
            // The line is shown at once, even in a pipe.
            fflush(nil)
            print(try await task.value.url.path)
        }
    }
}
