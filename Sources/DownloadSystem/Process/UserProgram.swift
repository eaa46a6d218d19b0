import CSystem
import DownloadCore
import Foundation
import Glibc
import Synchronization

/// A running program of a hook or a command that the user has named, with its process group.
package final class UserProgram: Sendable {
    package enum Ending: Equatable, Sendable {
        /// - Parameter status: Nil if other code of this process has taken the status.
        case exited(_ status: Int32?)
        case signalled(Int32)
        case timedOut
        /// The session ended before the program.
        case stopped
    }

    package struct StartFailure: Error {
        package let text: String

        package init(text: String) { self.text = text }
    }

    private struct State {
        /// Whether the process has been reaped. After that, its id may belong to another process.
        var isReaped = false
        /// The reason why the program was asked to end.
        var cause: Ending?
    }

    /// The time between SIGTERM and SIGKILL.
    private static let grace = Duration.seconds(2)

    private let pid: pid_t
    private let time: any TimeSource
    private let state = Mutex(State())

    private init(_ pid: pid_t, _ time: any TimeSource) {
        self.pid = pid
        self.time = time
    }

    /// Starts a program in a separate process group. It reads `input` from standard input, and has the descriptors in
    /// `files` as 3 and following.
    package static func start(
        _ program: String, _ words: [String] = [], environment: [String: String], folder: String, input: String,
        outputs: (Int32, Int32) = (STDERR_FILENO, STDERR_FILENO), files: [Int32] = [],
        time: any TimeSource = SystemTime()
    ) throws(StartFailure) -> UserProgram {
        // A process that ignores SIGCHLD never learns how a child ended, and dlm may inherit this setting from its
        // caller.
        signal(SIGCHLD, SIG_DFL)
        let text = Array(input.utf8)
        let descriptor = dlm_memory_file(text, text.count)
        guard descriptor >= 0 else { throw StartFailure(text: String(cString: strerror(errno))) }
        defer { close(descriptor) }
        // A descriptor between 0 and the last number in the program could be replaced before it is passed on.
        let files = files.map { fcntl($0, F_DUPFD_CLOEXEC, 16) }
        defer { for file in files { close(file) } }
        var pid: pid_t = 0
        let code = ProcessStart.alone([program] + words, environment) {
            dlm_spawn(
                program, $0, $1, folder, [descriptor, outputs.0, outputs.1] + files, Int32(3 + files.count), 0, &pid)
        }
        guard code == 0 else {
            let hint = code == ENOEXEC ? "; if it is a script, its first line must begin with #!" : ""
            throw StartFailure(text: String(cString: strerror(code)) + hint)
        }
        return UserProgram(pid, time)
    }

    /// Runs a program to its end, for at most `limit` seconds, after which the problem is `overdue`.
    /// - Parameter said: Returns the end of the text about a program that has failed.
    /// - Returns: The problem as text for the user; nil if the program has succeeded.
    package static func run(
        _ program: String, _ words: [String] = [], environment: [String: String], folder: String, input: String,
        outputs: (Int32, Int32) = (STDERR_FILENO, STDERR_FILENO), within limit: Double, overdue: String,
        said: () -> String = { "" }, time: any TimeSource
    ) async -> String? {
        let process: UserProgram
        do throws(StartFailure) {
            process = try start(
                program, words, environment: environment, folder: folder, input: input, outputs: outputs, time: time)
        } catch {
            return "cannot be run: \(error.text)"
        }
        switch await process.end(within: .seconds(limit)) {
        case .exited(0): return nil
        case .exited(nil): return "ended, but its exit status is unknown\(said())"
        case .exited(let status?): return "ended with status \(status)\(said())"
        case .signalled(let signal): return "was ended by signal \(signal)\(said())"
        case .timedOut: return overdue
        case .stopped: return "was ended with this session"
        }
    }

    /// Waits until the program has ended, and ends it after `limit` or when the task is cancelled. Called only once.
    package func end(within limit: Duration) async -> Ending {
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

    /// Sends SIGTERM, and SIGKILL if the program still runs after ``grace``.
    private func stop(_ cause: Ending) async {
        let isFirst = state.withLock { state in
            defer { state.cause = state.cause ?? cause }
            return state.cause == nil
        }
        guard isFirst else { return }
        send(SIGTERM)
        // The wait runs in a detached task, so that a cancellation of the session does not shorten it.
        await Task.detached { try? await self.time.sleep(for: Self.grace) }.value
        send(SIGKILL)
    }

    private func send(_ signal: Int32) {
        state.withLock { if !$0.isReaped { kill(-pid, signal) } }
    }

    /// Blocks until the program has ended. If the program was asked to end, the rest of its process group is killed.
    private func reap() -> Ending {
        var information = siginfo_t()
        while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        return state.withLock { state in
            if state.cause != nil { kill(-pid, SIGKILL) }
            var status: Int32 = 0
            var reaped = waitpid(pid, &status, 0)
            while reaped < 0, errno == EINTR { reaped = waitpid(pid, &status, 0) }
            state.isReaped = true
            if let cause = state.cause { return cause }
            // A program that embeds the library may have taken the status. Without the status, the program has failed.
            if reaped < 0 { return .exited(nil) }
            let signal = status & 0x7F
            return signal == 0 ? .exited((status >> 8) & 0xFF) : .signalled(signal)
        }
    }
}

extension [String: String] {
    /// The absolute folders in which programs are looked up.
    package var programFolders: [String] {
        (self["PATH"] ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":").map { String($0) }
            .filter { $0.hasPrefix("/") }
    }

    package func program(_ name: String) -> String? {
        programFolders.lazy.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }
}
