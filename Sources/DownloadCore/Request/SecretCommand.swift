import CSystem
import Foundation

/// The run of a program that prints a secret. A request can name such a program instead of a file with the secret.
enum SecretCommand {
    /// The time limit for the program, in seconds.
    static let patience = 60.0

    /// Returns what the program printed. The program shares the standard error of this process.
    static func output(of path: String, _ time: any TimeSource) async throws(DownloadError) -> [UInt8] {
        // A queue of its own has a thread of its own while the program runs.
        try await DispatchQueue(label: "dlm.secret").run { () throws(DownloadError) in try run(path, time) }
    }

    private static func run(_ path: String, _ time: any TimeSource) throws(DownloadError) -> [UInt8] {
        // The output goes to a file in memory. A pipe could be kept open by a process that the program leaves running.
        let output = dlm_memory_file(nil, 0)
        guard output >= 0 else { throw failed(path, String(cString: strerror(errno))) }
        defer { close(output) }
        let pid = try start(path, output: output)
        let status = try wait(for: pid, path, time)
        guard status & 0x7F == 0 else { throw failed(path, "was ended by signal \(status & 0x7F)") }
        guard status == 0 else { throw failed(path, "ended with status \(status >> 8 & 0xFF)") }
        return try SecretFile.read("/proc/self/fd/\(output)")
    }

    private static func failed(_ path: String, _ why: String) -> DownloadError {
        .requestInvalid(.unusableSecret("\(path): \(why)"))
    }

    private static func start(_ path: String, output: Int32) throws(DownloadError) -> pid_t {
        // While SIGCHLD is ignored, `waitpid` cannot tell how a child ended.
        signal(SIGCHLD, SIG_DFL)
        // If the program runs dlm itself, that dlm must not run the program again.
        let inherited = ProcessInfo.processInfo.environment.filter { $0.key != "DLM_BEARER_COMMAND" }
        var pid: pid_t = 0
        let code = ProcessStart.alone([path], inherited) {
            dlm_spawn(path, $0, $1, "/", [-1, output, STDERR_FILENO], 3, 0, &pid)
        }
        guard code == 0 else { throw failed(path, "cannot be run: \(String(cString: strerror(code)))") }
        return pid
    }

    /// Blocks until the program has ended, or until it is killed at the time limit.
    private static func wait(
        for pid: pid_t, _ path: String, _ time: any TimeSource
    ) throws(DownloadError) -> Int32 {
        var status: Int32 = 0
        let deadline = time.now + .seconds(patience)
        while true {
            let ended = waitpid(pid, &status, WNOHANG)
            if ended == pid { return status }
            if ended < 0, errno != EINTR { throw failed(path, String(cString: strerror(errno))) }
            guard time.now < deadline else {
                kill(-pid, SIGKILL)
                while waitpid(pid, &status, 0) < 0, errno == EINTR {}
                throw failed(path, "did not end within \(Int(patience)) s")
            }
            time.block(for: .milliseconds(5))
        }
    }
}
