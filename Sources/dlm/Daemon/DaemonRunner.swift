import DownloadKit
import DownloadRPC
import Foundation

/// The life of the background session in this process.
struct DaemonRunner: Sendable {
    private enum Stop: Sendable {
        case signal(Int32)
        case request(ShutdownMode)
        /// The running downloads have ended, and a client had asked the session to end after them.
        case finished
    }

    let context: Context
    let options: DaemonOptions
    let report: ReadinessReport?

    func run() async throws -> Int32 {
        let stateFolder = try SessionConfiguration.stateFolder(environment: context.environment)
        let log = DaemonLog(
            console: context.console, file: DaemonLogFile(stateFolder: stateFolder), time: context.time,
            journal: JournalLog(environment: context.environment))
        let notifier = ServiceNotifier(environment: context.environment)
        let (stops, stop) = AsyncStream.makeStream(of: Stop.self)
        context.signals.receive { stop.yield(.signal($0)) }
        let manager: SessionManager
        let server: RPCServer?
        do {
            guard FreeDescriptors.has(Surroundings.descriptorsOfDaemon) else {
                throw DownloadError.sessionUnavailable(
                    .startFailed(message: Surroundings.tooFewFiles(Surroundings.descriptorsOfDaemon)))
            }
            let socket = BackgroundSession.socket(in: stateFolder)
            let listener = try SocketActivation.listener(environment: context.environment, path: socket)
            // The variables are for this process and not for programs that it starts.
            for name in SocketActivation.variables + [ServiceNotifier.variable] { unsetenv(name) }
            let rpc = try rpcConfiguration(stateFolder)
            manager = try await open(stateFolder, listener, log)
            server = try await serve(rpc, manager, stateFolder, log)
        } catch {
            return try fail(error, log)
        }
        let logging = Task { [events = await manager.events()] in await log.follow(events) }
        let asking = Task {
            for await mode in manager.shutdownRequests { stop.yield(.request(mode)) }
        }
        log.line("started: dlm \(DownloadSession.version), pid \(getpid())")
        if let server { log.line("serving aria2's RPC and the page at \(server.address)") }
        notifier?.ready("Serving dlm")
        report?.send()
        await serve(manager, stops, log, notifier) { stop.yield(.finished) }
        asking.cancel()
        await server?.stop()
        await manager.close()
        await logging.value
        log.line("stopped")
        return 0
    }

    private func open(_ stateFolder: String, _ listener: Int32?, _ log: DaemonLog) async throws -> SessionManager {
        var configuration = SessionConfiguration(
            kind: .background(identifier: SessionIdentifier.background), stateFolder: stateFolder)
        configuration.time = context.time
        let settings = try context.settings()
        settings.apply(to: &configuration)
        options.apply(to: &configuration, settings)
        return try await DownloadSession.openBackground(
            configuration, listener: listener,
            hooks: HookProgram.Runner(environment: context.environment, time: context.time)
        ) { log.line($0) }
    }

    private func rpcConfiguration(_ stateFolder: String) throws -> RPCConfiguration? {
        let settings = try context.settings().general
        return try options.rpc.overriding(settings?.rpc).configuration(
            context.environment, stateFolder: stateFolder, directory: settings?.item.place.directory,
            workingFolder: context.workingFolder)
    }

    /// If the address cannot be used, the session does not begin.
    private func serve(
        _ rpc: RPCConfiguration?, _ manager: SessionManager, _ stateFolder: String, _ log: DaemonLog
    ) async throws -> RPCServer? {
        do {
            try RPCServer.forgetAddress(in: stateFolder)
            guard let rpc else { return nil }
            // Clients see the downloads of all sessions of the store, as commands do.
            let sessions = DownloadSession.sessions(stateFolder: stateFolder, time: context.time)
            return try await RPCServer.start(
                DownloadRouter(local: manager, directory: sessions), rpc, identifier: manager.identifier,
                time: context.time, probe: { try await DownloadSession.probe($0) }, report: { log.line($0) })
        } catch {
            await manager.pauseAll(.terminate)
            await manager.close()
            throw error
        }
    }

    /// Returns when the session must end and its downloads are paused or have ended.
    private func serve(
        _ manager: SessionManager, _ stops: AsyncStream<Stop>, _ log: DaemonLog, _ notifier: ServiceNotifier?,
        _ finished: @escaping @Sendable () -> Void
    ) async {
        var finishing: Task<Void, Never>?
        for await stop in stops {
            switch stop {
            case .request(.finish):
                guard finishing == nil else { continue }
                log.line("finishing: running downloads may end, no others are started")
                // STOPPING=1 is not sent yet, because it starts the time limit of the service manager.
                notifier?.status("Finishing what runs")
                finishing = Task {
                    await manager.finish()
                    finished()
                }
            case .finished:
                notifier?.stopping("Running downloads have ended")
                return
            case .request(.pause), .signal:
                if case .signal(let number) = stop { log.line("signal \(number): pausing") }
                notifier?.stopping("Pausing downloads")
                return await manager.pauseAll(.terminate)
            }
        }
    }

    /// Reports to the waiting process why the session does not start. It is no error if another session was faster.
    private func fail(_ error: any Error, _ log: DaemonLog) throws -> Int32 {
        guard let report else { throw error }
        let failure = error as? DownloadError ?? .unexpected("\(error)")
        defer { report.send(failure) }
        if case .sessionUnavailable(.alreadyRunning) = failure { return 0 }
        log.error(error)
        return failure.exitStatus
    }
}
