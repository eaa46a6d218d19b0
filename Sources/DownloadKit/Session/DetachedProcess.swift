import CSystem
import DownloadCore
import DownloadSystem
import Foundation
import Synchronization

/// A process that was started to run a background session. It has no terminal, and runs in a new POSIX session
/// (setsid(2)).
package final class DetachedProcess: Sendable {
    package let pid: pid_t
    /// The status from waitpid(2); nil while the process lives.
    private let status = Mutex<Int32?>(nil)

    /// - Parameters:
    ///   - output: The standard output and error of the process.
    ///   - report: The descriptor `DLM_REPORT_FD` of the process.
    package init(
        _ program: String, _ arguments: [String], environment: [String: String], output: Int32, report: Int32
    ) throws(DownloadError) {
        var pid: pid_t = 0
        let error = ProcessStart.alone(arguments, environment) {
            dlm_spawn(program, $0, $1, "/", [-1, output, output, report], 4, 1, &pid)
        }
        guard error == 0 else { throw .startFailed("cannot start \(program)", error) }
        self.pid = pid
    }

    deinit {
        // A thread waits for the process, so that it leaves no zombie if this process lives longer.
        if ending == nil {
            Thread.detachNewThread { [pid] in while waitpid(pid, nil, 0) < 0, errno == EINTR {} }
        }
    }

    /// How the process ended, in words; nil while it runs.
    package var ending: String? {
        status.withLock { status in
            var new: Int32 = 0
            if status == nil, waitpid(pid, &new, WNOHANG) != 0 { status = new }
            return status.map { status in
                let signal = status & 0x7F
                return signal == 0 ? "ended with status \((status >> 8) & 0xFF)" : "was ended by signal \(signal)"
            }
        }
    }

    /// Asks the process to end.
    package func terminate() {
        // The id of a process that was not reaped yet cannot belong to another process.
        status.withLock { if $0 == nil { kill(pid, SIGTERM) } }
    }
}

#if BackgroundSessions
    extension DetachedProcess {
        convenience init(_ host: BackgroundHost) throws(DownloadError) {
            let output = open("/dev/null", O_RDWR | O_CLOEXEC)
            guard output >= 0 else { throw .startFailed("/dev/null", errno) }
            defer { close(output) }
            try self.init(
                host.executable, [host.executable] + host.arguments,
                environment: ProcessInfo.processInfo.environment.merging(host.environment) { _, new in new },
                output: output, report: output)
        }
    }
#endif

extension DownloadError {
    /// Returns the error for a failed system call that the start of a background session needs.
    package static func startFailed(_ operation: String, _ code: Int32) -> DownloadError {
        .sessionUnavailable(.startFailed(message: "\(operation): \(String(cString: strerror(code)))"))
    }
}
