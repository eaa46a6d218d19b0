import CSystem
import DownloadKit
import Glibc

/// `dlm daemon run` in a process of its own, without a terminal. The process inherits only the user's environment,
/// umask and limits from its starter.
struct DaemonProcess {
    let pid: pid_t
    private let pipe: ReadinessPipe
    private let logPath: String

    /// Variables that a service manager sets for a service of its own. They are not passed on.
    private static let foreign = ["NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "WATCHDOG_USEC"]

    /// Variables of proxies. They are not passed on, because downloads carry the proxies of the commands that add them.
    private static let proxies = ProxyEnvironment.variables

    /// - Parameters:
    ///   - options: the options of `dlm daemon run`.
    ///   - log: the file that becomes the standard output and error of the process.
    init(options: [String], environment: [String: String], log: DaemonLogFile) throws(DownloadError) {
        let output = try log.open()
        defer { close(output) }
        let pipe = try ReadinessPipe()
        let settings = environment.filter { !(Self.foreign + Self.proxies).contains($0.key) }.map {
            "\($0.key)=\($0.value)"
        }
        let words = ["dlm", "daemon", "run"] + options + ["--report-descriptor", "\(DLM_REPORT_FD)"]
        let program = Self.program
        var pid: pid_t = 0
        let error = withCStrings(words) { arguments in
            withCStrings(settings) { environment in
                dlm_spawn_detached(program, arguments, environment, output, pipe.writer, &pid)
            }
        }
        close(pipe.writer)
        guard error == 0 else {
            close(pipe.reader)
            throw .daemon("cannot start \(program)", error)
        }
        self.pid = pid
        self.pipe = pipe
        logPath = log.path
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

    /// Waits for the one report of the process. A process that does not report in time is asked to end (SIGTERM).
    func readiness(within limit: Duration, _ time: any TimeSource) async throws(DownloadError) -> Readiness {
        let (line, inTime) = await pipe.line(within: limit, time)
        if !inTime {
            // The process was not reaped yet, so its id cannot belong to another process.
            kill(pid, SIGTERM)
            throw failure("it was not ready within \(limit.seconds) s")
        }
        guard let readiness = line.flatMap(Readiness.init(line:)) else {
            throw failure(Self.ending(of: pid))
        }
        return readiness
    }

    private func failure(_ why: String) -> DownloadError {
        .sessionUnavailable(.startFailed(message: "\(why); see \(logPath)"))
    }

    /// Returns how a process ended, for a process that closed its pipe without a report.
    private static func ending(of pid: pid_t) -> String {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        let signal = status & 0x7F
        return signal == 0 ? "it ended with status \((status >> 8) & 0xFF)" : "it was ended by signal \(signal)"
    }
}

extension Duration {
    /// Whole seconds, for messages.
    var seconds: Int64 { components.seconds }
}
