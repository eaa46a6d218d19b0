import ArgumentParser
import DownloadKit

extension Daemon {
    struct Stop: ContextCommand {
        static let configuration = CommandConfiguration(
            commandName: "stop",
            abstract: "Stop the background session, and return when it has ended.",
            discussion: """
                Running downloads are paused, and continue at the next start. The exit status is also 0 if no \
                background session is running.
                """)

        @Flag(help: "Let running downloads finish first, however long that takes; start no others.")
        var finish = false

        @OptionGroup(title: "Output") var output: OutputOptions

        private static let patience = Duration.seconds(30)

        func run(in context: Context) async throws -> Int32 {
            let session = try BackgroundSession(environment: context.environment, time: context.time)
            defer { session.directory.close() }
            guard let (service, status) = try await session.connect({ ($0, try await $0.status()) }) else {
                tell(context, DaemonDocument(socket: session.socket), "is not running")
                return 0
            }
            let process = ProcessWatch(status.pid)
            do {
                try await service.shutdown(finish ? .finish : .pause)
            } catch let error as DownloadError {
                // The session may end before it sends its answer.
                if session.isAlive, error != .sessionUnavailable(.notRunning(SessionIdentifier.background)) {
                    throw error
                }
            }
            let hasEnded = try await session.waitForEnd(of: process, within: finish ? nil : Self.patience)
            guard hasEnded else {
                throw DownloadError.sessionUnavailable(
                    .notAnswering(
                        SessionIdentifier.background,
                        message: "its process \(status.pid) did not end within "
                            + "\(Self.patience.seconds) s"))
            }
            tell(context, DaemonDocument(socket: session.socket), "has ended")
            return 0
        }

        private func tell(_ context: Context, _ document: DaemonDocument, _ what: String) {
            if output.json {
                context.console.print(document.json)
            } else if !output.quiet {
                context.console.report("the background session \(what)")
            }
        }
    }
}
