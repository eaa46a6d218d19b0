import ArgumentParser
import DownloadKit

extension Daemon {
    struct Status: ContextCommand {
        static let configuration = CommandConfiguration(
            commandName: "status",
            abstract: "Show the state of the background session; status 1 if it is not running.")

        @OptionGroup(title: "Output") var output: OutputOptions

        func run(in context: Context) async throws -> Int32 {
            let session = try BackgroundSession(environment: context.environment, time: context.time)
            defer { session.directory.close() }
            let status = try await session.connect { try await $0.status() }
            let document = DaemonDocument(status, socket: session.socket)
            context.console.print(document, output) { DaemonText.lines(document, now: context.time.date) }
            return status == nil ? 1 : 0
        }
    }
}
