import CSystem
import Foundation

/// Runs a program that prints a secret: what a file would say, but made when it is asked for.
enum SecretCommand {
    /// In seconds, for the program to end.
    static let patience = 60.0

    /// What it printed. Its standard error is ours.
    static func output(of path: String, _ time: any TimeSource) async throws(DownloadError) -> [UInt8] {
        let result: Result<[UInt8], DownloadError> = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                do throws(DownloadError) {
                    continuation.resume(returning: .success(try run(path, time)))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        return try result.get()
    }

    private static func run(_ path: String, _ time: any TimeSource) throws(DownloadError) -> [UInt8] {
        // Not a pipe: whatever the program leaves running may keep that open.
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
        // Whoever ignores it never learns how a child ended.
        signal(SIGCHLD, SIG_DFL)
        // A dlm that it runs would run it again.
        let inherited = ProcessInfo.processInfo.environment.filter { $0.key != "DLM_BEARER_COMMAND" }
        var words = [strdup(path), nil]
        var settings = inherited.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in words + settings { free(text) } }
        var pid: pid_t = 0
        let code = ProcessStart.alone { dlm_spawn_for_output(path, &words, &settings, output, &pid) }
        guard code == 0 else { throw failed(path, "cannot be run: \(String(cString: strerror(code)))") }
        return pid
    }

    /// Blocks until it has ended, by itself or because it takes too long.
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
