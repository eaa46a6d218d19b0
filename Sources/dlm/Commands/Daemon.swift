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

struct DaemonOptions: ParsableArguments {
    @OptionGroup var session: SessionOptions

    @Option(
        "Limit all downloads together to this many bytes per second, such as 500k or 2M; none lifts the limit.",
        value: "rate")
    var limitRate: ByteRate?

    @OptionGroup(title: "Network access") var rpc: RPCOptions

    /// The settings to change in a session that is already running.
    var settings: SessionSettings {
        SessionSettings(
            maxConcurrent: session.maxConcurrent, maxPerHost: session.maxPerHost,
            rateLimit: limitRate.map { $0.limit ?? 0 })
    }

    /// Applies the options to a configuration that already has the values of the settings.
    func apply(to configuration: inout SessionConfiguration, _ settings: Settings) {
        session.apply(to: &configuration, settings, limitsEach: false)
        if let limitRate { configuration.rateLimit = limitRate.limit }
    }
}
