import ArgumentParser
import DownloadKit
import DownloadRPC

extension Daemon {
    struct Start: ContextCommand {
        static let configuration = CommandConfiguration(
            commandName: "start",
            abstract: "Start the background session, and return when it is ready.",
            discussion: """
                If the session is already running, it only receives the limits of downloads. To change its network \
                access, stop the session first. The session has no terminal; it inherits only the environment, umask \
                and limits of the caller. Its messages are in daemon.log in the state folder.
                """)

        @OptionGroup(title: "How") var options: DaemonOptions
        @OptionGroup(title: "Output") var output: OutputOptions

        func run(in context: Context) async throws -> Int32 {
            // An error in the settings is reported here, and not only in the log.
            _ = try context.settings()
            let session = try BackgroundSession(environment: context.environment, time: context.time)
            defer { session.directory.close() }
            var process: Int32?
            var (service, status) = try await session.open(wakes: true) { service in
                (service, try await service.status())
            } orStart: { deadline in
                // dlm daemon run accepts all options of this command.
                let options = try GivenArguments.normalized(context.arguments).dropFirst(2)
                process = try await DaemonProcess.start(
                    Array(options), environment: context.environment, until: deadline, context.time)
                return nil
            }
            let isNew = status.pid == process
            if status.isFinishing { throw DownloadError.sessionUnavailable(.shuttingDown) }
            let address = RPCServer.runningAddress(in: session.stateFolder)
            if options.rpc.rpc == .rpc, address == nil {
                throw DownloadError.sessionUnavailable(
                    .startFailed(message: "it runs already, without --rpc; run: dlm daemon stop, and start it again"))
            }
            if !isNew, options.settings != SessionSettings() {
                try await service.configure(options.settings)
                status = try await service.status()
            }
            if output.json {
                context.console.print(DaemonDocument(status, socket: session.socket).json)
            } else if !output.quiet {
                if !isNew, options.rpc.changesServer {
                    context.console.report(
                        "its network access is not changed; to change it, run: dlm daemon stop, and start it again")
                }
                let what = isNew ? "has started" : "is running"
                context.console.report("the background session \(what) (pid \(status.pid))")
                if let address { context.console.report("it serves \(address); for the secret run: dlm rpc secret") }
            }
            return 0
        }
    }
}
