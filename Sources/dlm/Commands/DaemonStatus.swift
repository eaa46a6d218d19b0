import ArgumentParser
import DownloadKit

extension Daemon {
    /// `dlm daemon status`: shows the status of the background session.
    struct Status: ContextCommand {
        static let configuration = CommandConfiguration(
            commandName: "status",
            abstract: "Show the state of the background session; status 1 if it is not running.")

        @OptionGroup(title: "Output") var output: OutputOptions

        func run(in context: Context) async throws -> Int32 {
            let session = try BackgroundSession(environment: context.environment, time: context.time)
            defer { session.directory.close() }
            let connected = try await session.connect()
            let document =
                connected.map { DaemonDocument($0.status, socket: session.socket) }
                ?? DaemonDocument(socket: session.socket)
            if output.json {
                context.console.print(document.json)
            } else if !output.quiet {
                for line in DaemonText.lines(document, now: context.time.date) { context.console.print(line) }
            }
            return connected == nil ? 1 : 0
        }
    }
}
