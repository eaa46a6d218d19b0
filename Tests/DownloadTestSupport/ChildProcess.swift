import CSystem
import CTestSupport
import Foundation
import Synchronization

/// A program that a test started. A test can wait for its output and send signals to it alone. The program ends by
/// itself, or is killed at its time limit.
package final class ChildProcess: Sendable {
    package enum Ending: Sendable, Equatable {
        case exited(Int32)
        /// The program was killed by a signal. This is not an exit status above 128.
        case signalled(Int32)
    }

    package struct Result: Sendable {
        package let ending: Ending
        package let stdout: String
        package let stderr: String
        package let duration: Duration
        /// The peak of the resident memory in bytes, as last seen. 0 if the memory of the program was not watched.
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
        /// Whether the program left the modes of its terminal as they were; nil before its end and without a terminal.
        package fileprivate(set) var restoredTerminal: Bool?
        fileprivate var timedOut = false
        fileprivate var result: Result?

        package var errorText: String { String(decoding: stderr, as: UTF8.self) }
        package var outputText: String { String(decoding: stdout, as: UTF8.self) }
    }

    package let pid: pid_t
    private let launch: ProcessLaunch
    /// The test's side of the terminal. Nil if the program has no terminal.
    private let terminal: Int32?
    private let output = Observed(Output())
    /// Nil until the process is reaped. Until then, it may be signalled.
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
            if let modes = spawned.modes, let last = ProcessLaunch.modes(spawned.stderr) {
                self.output.update { $0.restoredTerminal = last == modes }
            }
            for descriptor in [spawned.stdout, spawned.stderr, ended] { close(descriptor) }
            self.publish()
        }
    }

    package var restoredTerminal: Bool? { output.value.restoredTerminal }
    package var standardError: String { output.value.errorText }
    package var standardOutput: String { output.value.outputText }

    package func send(_ signal: Int32) {
        ending.withLock { if $0 == nil { kill(pid, signal) } }
    }

    /// Ends the program by SIGKILL, and waits for its end.
    @discardableResult
    package func killed() async throws -> Result {
        send(SIGKILL)
        return try await result()
    }

    /// Types text on the terminal of the program.
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

    /// Gives the terminal of the program another width.
    package func resizeTerminal(columns: Int) {
        ending.withLock { if $0 == nil, let terminal { _ = dlmtest_resize_terminal(terminal, Int32(columns)) } }
    }

    /// Closes the terminal of the program. The kernel sends a hang-up, as when a window is closed.
    package func hangUp() {
        ending.withLock { ending in
            guard ending == nil, let terminal else { return }
            let null = open("/dev/null", O_RDONLY | O_CLOEXEC)
            dup2(null, terminal)
            close(null)
        }
    }

    /// Waits until the output meets a condition. Returns false if it does not within the limit.
    package func waitForOutput(
        atMost limit: Duration = .seconds(45), _ isMet: @escaping @Sendable (Output) -> Bool
    ) async -> Bool {
        await output.wait(atMost: limit, until: isMet)
    }

    /// Waits for the end of the program. Returns false if the program has not ended within the limit.
    package func waitForEnd(atMost limit: Duration) async -> Bool {
        await output.wait(atMost: limit) { $0.result != nil }
    }

    /// Waits for the end of the program. Throws if the time limit ended the program.
    package func result() async throws -> Result {
        let came = await output.wait(atMost: launch.timeLimit + .seconds(30)) { $0.result != nil }
        let last = output.value
        guard came, let result = last.result, !last.timedOut else {
            throw Failure(
                description: "\(launch) did not end in \(launch.timeLimit)\n\(last.outputText)\n\(last.errorText)")
        }
        return result
    }

    /// Blocks until the process has ended. The process is reaped under the lock, so no signal can reach another process
    /// that was given the same number.
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

    /// Collects both outputs until the process has ended and all of its output was read.
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

    /// Records the peak memory. `ru_maxrss` cannot be used, because it starts with the memory of the parent at the
    /// fork.
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
