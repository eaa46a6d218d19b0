import ArgumentParser
import DownloadKit

extension Daemon {
    /// `dlm daemon run`: runs the background session in this process.
    struct Run: ContextCommand {
        static let configuration = CommandConfiguration(
            commandName: "run",
            abstract: "Be the background session, in the foreground: for systemd and its like.",
            discussion: """
                SIGTERM, SIGINT and SIGHUP pause the downloads, which go on at the next start, and end it with status \
                0; a second signal ends it at once. It tells a service manager how it is (sd_notify), and takes a \
                socket from it (LISTEN_FDS). What it has to say goes to standard error, a line each with the time in \
                UTC.
                """)

        @OptionGroup(title: "How") var options: DaemonOptions

        @Option(help: .hidden) var reportDescriptor: Int32?

        func run(in context: Context) async throws -> Int32 {
            let report = reportDescriptor.flatMap(ReadinessReport.init(descriptor:))
            return try await DaemonRunner(context: context, options: options, report: report).run()
        }
    }
}
