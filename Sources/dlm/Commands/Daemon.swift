import ArgumentParser
import DownloadKit

struct Daemon: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "daemon",
        abstract: "Start, stop, run or inspect the background session.",
        discussion: """
            The background session downloads what dlm get -b hands to it, without a terminal. At its next start it \
            continues whatever was interrupted. There is one session for each state folder, and dlm get -b starts it \
            on demand.
            """,
        subcommands: [Run.self, Start.self, Stop.self, Status.self])
}

extension Daemon {
    struct Run: ContextCommand {
        static let configuration = CommandConfiguration(
            commandName: "run",
            abstract: "Run the background session in the foreground, for systemd and similar.",
            discussion: """
                SIGTERM, SIGINT or SIGHUP ends the session with status 0: its downloads are paused, and continue at \
                the next start. A second signal ends it at once. The session reports its state to the service \
                manager (sd_notify) and accepts a socket from it (LISTEN_FDS). It writes its messages to standard \
                error, one on each line with the time in UTC, or to systemd's journal.
                """)

        @OptionGroup(title: "How") var options: DaemonOptions

        /// The options for the output of `dlm daemon start`, which passes all of its options on.
        @OptionGroup(visibility: .hidden) var output: OutputOptions

        @Option(help: .hidden) var reportDescriptor: Int32?

        func validate() throws {
            guard reportDescriptor == nil, output.json || output.quiet || output.verbose > 0 || output.color != nil
            else { return }
            throw ValidationError("--json, -q, -v and --color are for dlm daemon start; leave them out")
        }

        func run(in context: Context) async throws -> Int32 {
            let report = reportDescriptor.flatMap(ReadinessReport.init(descriptor:))
            return try await DaemonRunner(context: context, options: options, report: report).run()
        }
    }
}
