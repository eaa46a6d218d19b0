import CSystem
import DownloadKit
import Foundation

/// `dlm daemon run` in a process of its own, without a terminal. The process inherits only the user's environment,
/// umask and limits from its starter.
enum DaemonProcess {
    /// The variables that are not passed on: those that a service manager sets for a service of its own, and those of
    /// proxies, because downloads carry the proxies of the commands that add them.
    private static let foreign = HookVariables.foreign + ProxyEnvironment.variables

    /// Starts the process, and returns its id when its session serves. A process that does not report in time is asked
    /// to end (SIGTERM). Its standard output and error are the log file. Throws the error that the process reported,
    /// such as `alreadyRunning` if another session was faster.
    @discardableResult
    static func start(
        _ options: [String] = [], environment: [String: String], until deadline: ContinuousClock.Instant,
        _ time: any TimeSource
    ) async throws -> pid_t {
        let patience = deadline - time.now
        let log = DaemonLogFile(stateFolder: try SessionConfiguration.stateFolder(environment: environment))
        let output = try log.open()
        defer { close(output) }
        let pipe = try ReadinessPipe()
        defer { close(pipe.reader) }
        let starting = Result {
            try DetachedProcess(
                program, ["dlm", "daemon", "run", "--report-descriptor", "\(DLM_REPORT_FD)"] + options,
                environment: environment.filter { !foreign.contains($0.key) }, output: output,
                report: pipe.writer)
        }
        close(pipe.writer)
        let process = try starting.get()
        guard let isReady = try await pipe.isReady(until: deadline, time) else {
            process.terminate()
            throw failure("it was not ready within \(patience.seconds) s", log)
        }
        if isReady { return process.pid }
        while true {
            if let ending = process.ending { throw failure("it \(ending)", log) }
            guard time.now < deadline else {
                process.terminate()
                throw failure("it closed its report and did not end", log)
            }
            try await time.sleep(for: ReadinessPipe.pace)
        }
    }

    /// The path of this program itself, even if another program was installed in its place since. The ordinary path is
    /// preferred while it still leads to this program, because `ps` and `pgrep` go by the name.
    private static var program: String {
        let link = "/proc/self/exe"
        guard let resolved = realpath(link, nil) else { return link }
        defer { free(resolved) }
        let path = String(cString: resolved)
        return FileStatus.areSame(path, link) ? path : link
    }

    private static func failure(_ why: String, _ log: DaemonLogFile) -> DownloadError {
        .sessionUnavailable(.startFailed(message: "\(why); see \(log.path)"))
    }
}

extension Duration {
    /// Whole seconds, for messages.
    var seconds: Int64 { components.seconds }
}
