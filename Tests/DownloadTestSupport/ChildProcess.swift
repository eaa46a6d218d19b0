import CSystem
import Foundation
import Synchronization

/// A program that a test has started. The test can wait for its output and send it signals. It ends by itself or at its
/// time limit.
package final class ChildProcess: Sendable {
    package enum Ending: Sendable, Equatable {
        case exited(Int32)
        /// Killed by a signal, not a status above 128.
        case signalled(Int32)
    }

    package struct Result: Sendable {
        package let ending: Ending
        package let stdout: String
        package let stderr: String
        package let duration: Duration
        /// The peak of resident memory in bytes, as last seen; 0 if the program was not watched.
        package let peakResident: Int64

        package init(ending: Ending, stdout: String, stderr: String, duration: Duration, peakResident: Int64 = 0) {
            self.ending = ending
            self.stdout = stdout
            self.stderr = stderr
            self.duration = duration
            self.peakResident = peakResident
        }

        package var errorLines: [Substring] { stderr.split(separator: "\n") }
        package var outputLines: [Substring] { stdout.split(separator: "\n") }
    }

    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) { self.description = description }
    }

    package struct Output: Sendable {
        package internal(set) var stdout: [UInt8] = []
        package internal(set) var stderr: [UInt8] = []
        package internal(set) var peakResident: Int64 = 0
        fileprivate var timedOut = false
        fileprivate var result: Result?

        package var errorText: String { String(decoding: stderr, as: UTF8.self) }
        package var outputText: String { String(decoding: stdout, as: UTF8.self) }
    }

    package let pid: pid_t
    private let launch: ProcessLaunch
    /// The test's side of the program's terminal; nil if the program has no terminal.
    private let terminal: Int32?
    private let output = Observed(Output())
    /// The end of the program; nil until the process is reaped. Signals are sent only as long as it is nil.
    private let ending = Mutex<Ending?>(nil)
    private let begin = ContinuousClock.now

    package init(_ launch: ProcessLaunch) throws {
        self.launch = launch
        let spawned = try launch.spawn()
        pid = spawned.pid
        terminal = launch.terminalColumns == nil ? nil : spawned.stderr
        let ended = dlm_eventfd()
        Thread.detachNewThread {
            self.reap()
            dlm_eventfd_signal(ended)
        }
        Thread.detachNewThread {
            self.read(stdout: spawned.stdout, stderr: spawned.stderr, ended: ended)
            for descriptor in [spawned.stdout, spawned.stderr, ended] { close(descriptor) }
            self.publish()
        }
    }

    package var standardError: String { output.value.errorText }
    package var standardOutput: String { output.value.outputText }

    package func send(_ signal: Int32) {
        ending.withLock { if $0 == nil { kill(pid, signal) } }
    }

    /// Types a text on the program's terminal.
    package func type(_ text: String) {
        ending.withLock { ending in
            guard ending == nil, let terminal else { return }
            _ = Array(text.utf8).withUnsafeBytes { write(terminal, $0.baseAddress, $0.count) }
        }
    }

    /// Waits until the program has stopped itself (SIGSTOP). Returns false if it ended instead.
    package func waitUntilStopped() async -> Bool {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { [pid] in
                var info = siginfo_t()
                let result = waitid(P_PID, id_t(pid), &info, WSTOPPED | WEXITED | WNOWAIT)
                continuation.resume(returning: result == 0 && info.si_code == CLD_STOPPED)
            }
        }
    }

    /// Closes the program's terminal, as when a window is closed. The kernel then sends SIGHUP.
    package func hangUp() {
        ending.withLock { ending in
            guard ending == nil, let terminal else { return }
            let null = open("/dev/null", O_RDONLY | O_CLOEXEC)
            dup2(null, terminal)
            close(null)
        }
    }

    /// Waits until the output meets a condition. Returns false if that does not happen within the limit.
    package func waitForOutput(
        atMost limit: Duration = .seconds(45), _ isMet: @escaping @Sendable (Output) -> Bool
    ) async -> Bool {
        await output.wait(atMost: limit, until: isMet)
    }

    /// Waits for the end. Returns false if the program has not ended within the limit.
    package func waitForEnd(atMost limit: Duration) async -> Bool {
        await output.wait(atMost: limit) { $0.result != nil }
    }

    /// Waits for the end, and returns the result. Throws if the time limit ended the program.
    package func result() async throws -> Result {
        let came = await output.wait(atMost: launch.timeLimit + .seconds(30)) { $0.result != nil }
        let last = output.value
        guard came, let result = last.result, !last.timedOut else {
            throw Failure(
                description: "\(launch) did not end in \(launch.timeLimit)\n\(last.outputText)\n\(last.errorText)")
        }
        return result
    }

    /// Blocks until the process has ended. It is reaped under the lock, so that no signal can reach another process
    /// with the same number.
    private func reap() {
        var info = siginfo_t()
        while waitid(P_PID, id_t(pid), &info, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        ending.withLock { ending in
            var status: Int32 = 0
            while waitpid(pid, &status, 0) < 0, errno == EINTR {}
            let signal = status & 0x7F
            ending = signal == 0 ? .exited((status >> 8) & 0xFF) : .signalled(signal)
        }
    }

    /// Collects both outputs until the process has ended and nothing is left in them.
    private func read(stdout: Int32, stderr: Int32, ended: Int32) {
        var watched = [stdout, stderr, ended].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        let deadline = begin + launch.timeLimit
        var mayWait = true
        while true {
            let ready = poll(&watched, 3, mayWait ? (launch.watchesMemory ? 20 : 200) : 0)
            if launch.watchesMemory { noteMemory() }
            var gotSomething = false
            if ready > 0 {
                for index in 0..<2 where watched[index].revents != 0 {
                    if take(from: watched[index].fd, isError: index == 1) {
                        gotSomething = true
                    } else {
                        watched[index].fd = -1
                    }
                }
            }
            if !mayWait, !gotSomething { return }
            if watched[2].revents != 0 { mayWait = false }
            if mayWait, ContinuousClock.now > deadline {
                output.update { $0.timedOut = true }
                send(SIGKILL)
            }
        }
    }

    /// Reads a piece of output. Returns false at the end.
    private func take(from descriptor: Int32, isError: Bool) -> Bool {
        var piece = [UInt8](repeating: 0, count: 65536)
        let count = Glibc.read(descriptor, &piece, piece.count)
        if count < 0 { return errno == EINTR || errno == EAGAIN }
        if count == 0 { return false }
        output.update { output in
            if isError { output.stderr += piece[..<count] } else { output.stdout += piece[..<count] }
        }
        return true
    }

    /// Records the peak of memory. `ru_maxrss` is not used, because it starts with the parent's memory at the fork.
    private func noteMemory() {
        guard let status = try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") }),
            let kilobytes = Int64(line.filter(\.isNumber))
        else { return }
        output.update { $0.peakResident = max($0.peakResident, kilobytes << 10) }
    }

    private func publish() {
        guard let ending = ending.withLock({ $0 }) else { return }
        let duration = ContinuousClock.now - begin
        output.update { output in
            output.result = Result(
                ending: ending, stdout: output.outputText, stderr: output.errorText, duration: duration,
                peakResident: output.peakResident)
        }
    }
}
