import CSystem
import DownloadKit
import Foundation
import Glibc
import Synchronization

/// A hook's program while it runs, with its process group.
final class HookProcess: Sendable {
    enum Ending: Equatable, Sendable {
        case exited(Int32)
        case signalled(Int32)
        case timedOut
        /// Its session ended first.
        case stopped
    }

    struct StartFailure: Error {
        let text: String
    }

    private struct State {
        /// From then on the number may be another process's.
        var isReaped = false
        /// Why it was asked to end.
        var cause: Ending?
    }

    /// From the wish that it ends to the end of its patience.
    private static let grace = Duration.seconds(2)

    private let pid: pid_t
    private let time: any TimeSource
    private let state = Mutex(State())

    private init(_ pid: pid_t, _ time: any TimeSource) {
        self.pid = pid
        self.time = time
    }

    /// - Parameters:
    ///   - input: what it reads.
    ///   - outputs: its standard output and error.
    static func start(
        _ program: String, _ words: [String] = [], environment: [String: String], folder: String, input: String,
        outputs: (Int32, Int32) = (STDERR_FILENO, STDERR_FILENO), time: any TimeSource = SystemTime()
    ) -> Result<HookProcess, StartFailure> {
        // Whoever ignores it never learns how a child ended; a caller may have left it so.
        signal(SIGCHLD, SIG_DFL)
        let text = Array(input.utf8)
        let descriptor = dlm_memory_file(text, text.count)
        guard descriptor >= 0 else { return .failure(StartFailure(text: String(cString: strerror(errno)))) }
        defer { close(descriptor) }
        var pid: pid_t = 0
        let code = withCStrings([program] + words) { arguments in
            withCStrings(environment.map { "\($0)=\($1)" }) { environment in
                ProcessStart.alone {
                    dlm_spawn_hook(program, arguments, environment, folder, descriptor, outputs.0, outputs.1, &pid)
                }
            }
        }
        guard code == 0 else {
            let hint = code == ENOEXEC ? "; a script begins with #!" : ""
            return .failure(StartFailure(text: String(cString: strerror(code)) + hint))
        }
        return .success(HookProcess(pid, time))
    }

    /// Once; cancelling the task ends the program.
    func end(within limit: Duration) async -> Ending {
        let timer = Task {
            try await time.sleep(for: limit)
            await stop(.timedOut)
        }
        defer { timer.cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                Thread.detachNewThread { continuation.resume(returning: self.reap()) }
            }
        } onCancel: {
            Task { await stop(.stopped) }
        }
    }

    /// SIGTERM, and SIGKILL when that does not help.
    private func stop(_ cause: Ending) async {
        let isFirst = state.withLock { state in
            defer { state.cause = state.cause ?? cause }
            return state.cause == nil
        }
        guard isFirst else { return }
        send(SIGTERM)
        // Not cut short by what cancels the session.
        await Task.detached { try? await self.time.sleep(for: Self.grace) }.value
        send(SIGKILL)
    }

    private func send(_ signal: Int32) {
        state.withLock { if !$0.isReaped { kill(-pid, signal) } }
    }

    /// Blocks until it has ended. What is left of a group that was asked to end goes with its leader.
    private func reap() -> Ending {
        var information = siginfo_t()
        while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        return state.withLock { state in
            if state.cause != nil { kill(-pid, SIGKILL) }
            var status: Int32 = 0
            while waitpid(pid, &status, 0) < 0, errno == EINTR {}
            state.isReaped = true
            if let cause = state.cause { return cause }
            let signal = status & 0x7F
            return signal == 0 ? .exited((status >> 8) & 0xFF) : .signalled(signal)
        }
    }
}

/// As C takes lists of words.
func withCStrings<Result>(
    _ words: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
    var pointers = words.map { strdup($0) } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    return body(&pointers)
}
