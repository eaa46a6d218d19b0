import CSystem
import DownloadKit
import Foundation
import Glibc
import Synchronization

/// The one door for output: stdout is data, stderr is for people. Keeps the progress block below everything else.
final class Console: Sendable {
    private struct State {
        var block = TerminalBlock()
        var isOutputClosed = false
        /// errno of a write to stdout that failed for another reason than its reader's going away.
        var outputFailure: Int32 = 0
    }

    private let output: Int32
    private let errors: Int32
    let outputIsTerminal: Bool
    let errorsAreTerminal: Bool
    /// What is written to either stream comes to the same place.
    private let isOneTerminal: Bool
    private let state = Mutex(State())

    init(output: Int32 = STDOUT_FILENO, errors: Int32 = STDERR_FILENO) {
        self.output = output
        self.errors = errors
        outputIsTerminal = isatty(output) == 1
        errorsAreTerminal = isatty(errors) == 1
        isOneTerminal = outputIsTerminal && errorsAreTerminal && Self.device(output) == Self.device(errors)
    }

    /// A console that prints data to where messages go: standard output stays empty.
    func withoutOutput() -> Console { Console(output: errors, errors: errors) }

    /// Descriptors that the caller closed become /dev/null: a file that is opened later must not get their numbers,
    /// and with them what is written for people.
    static func openClosedStreams() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) == -1 {
            if descriptor == STDOUT_FILENO { lacksOutput.store(true, ordering: .relaxed) }
            // The lowest free number is this one.
            _ = open("/dev/null", O_RDWR)
        }
    }

    private static let lacksOutput = Atomic(false)

    /// The caller closed stdout: what is written there reaches nobody.
    var outputIsMissing: Bool { output == STDOUT_FILENO && Self.lacksOutput.load(ordering: .relaxed) }

    /// Of stdout; nil when it is no terminal.
    var outputColumns: Int? { outputIsTerminal ? Self.columns(of: output) : nil }

    /// Columns and rows of the terminal at this moment.
    var size: (columns: Int, rows: Int) {
        let rows = Int(dlm_terminal_rows(errors))
        return (Self.columns(of: errors), rows > 0 ? rows : 24)
    }

    /// False while the shell has put this process into the background: the terminal is somebody else's.
    var isInForeground: Bool {
        let group = tcgetpgrp(errors)
        return group < 0 || group == getpgrp()
    }

    /// A line of data, as it stands.
    func print(_ line: String) {
        state.withLock { state in
            guard outputIsTerminal, !state.block.isEmpty else { return write(line + "\n", state: &state) }
            let (before, after) = state.block.around(columns: size.columns)
            // In pieces, the block would flicker.
            if isOneTerminal { return write(before + line + "\n" + after, state: &state) }
            send(before)
            write(line + "\n", state: &state)
            send(after)
        }
    }

    /// A path as data: scripts get it as it is, terminals escaped.
    func print(path: String) { print(outputIsTerminal ? Escaping.line(path) : path) }

    /// A line for people: an error or a notice.
    func report(_ message: String) { note("dlm: " + Escaping.line(Redaction.hidden(message))) }

    /// A line for people as it stands; its text is safe already.
    func note(_ line: String) {
        state.withLock { state in
            let (before, after) = state.block.around(columns: size.columns)
            send(before + line + "\n" + after)
        }
    }

    /// Draws the progress block anew, in one write.
    /// - Parameter control: what else the terminal is told, and does not show.
    func draw(_ lines: [String], control: String = "") {
        state.withLock { send(control + $0.block.draw(lines, columns: size.columns)) }
    }

    /// What the progress block is from now on, without a reason to draw it before the next line above it.
    func outdateBlock(by lines: [String]) { state.withLock { $0.block.outdate(by: lines) } }

    /// Leaves the progress block standing; what a terminal shows of a key (`^C`) is written over.
    func keepBlock(control: String = "") {
        state.withLock { state in
            send(control + (state.block.isEmpty ? "" : "\r\u{1B}[K"))
            state.block = TerminalBlock()
        }
    }

    /// Tells the terminal something that it does not show as text.
    func signal(_ control: String) {
        if errorsAreTerminal { state.withLock { _ in send(control) } }
    }

    /// Takes the progress block away.
    func clearBlock(control: String = "") {
        state.withLock { send(control + $0.block.erase(columns: size.columns)) }
    }

    /// A write has found that nobody reads stdout any more.
    var isOutputClosed: Bool { state.withLock(\.isOutputClosed) }

    /// Returns once nobody reads stdout any more, or the task is cancelled: a command that only prints what happens
    /// would else wait for the next event (a pipe tells its writer by POLLERR, poll(2)).
    func outputClosed(_ time: any TimeSource) async {
        while !Task.isCancelled, !isOutputClosed {
            var output = pollfd(fd: output, events: 0, revents: 0)
            if poll(&output, 1, 0) == 1, output.revents & Int16(POLLERR | POLLHUP) != 0 { return }
            try? await time.sleep(for: .milliseconds(200))
        }
    }

    /// The status to end with: a lost line of data is no success.
    func finish(_ status: Int32) -> Int32 {
        let failure = state.withLock { state in
            send(state.block.erase(columns: size.columns))
            return state.outputFailure
        }
        guard failure != 0 else { return status }
        report("standard output: \(FileFailure.system(operation: "write", errno: failure).description)")
        return status == 0 ? 3 : status
    }

    /// A line on stderr just before the end: waits for no lock and no reader.
    static func lastWord(_ message: String) {
        var ready = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
        if poll(&ready, 1, 0) == 1 { _ = writeAll("dlm: \(message)\n", to: STDERR_FILENO) }
    }

    private func write(_ text: String, state: inout State) {
        guard !state.isOutputClosed else { return }
        let failure = Self.writeAll(text, to: output)
        guard failure != 0 else { return }
        state.isOutputClosed = true
        if failure != EPIPE { state.outputFailure = failure }
    }

    /// stderr has nobody to complain to.
    private func send(_ text: String) {
        if !text.isEmpty { _ = Self.writeAll(text, to: errors) }
    }

    private static func device(_ terminal: Int32) -> dev_t? {
        var status = stat()
        return fstat(terminal, &status) == 0 ? status.st_rdev : nil
    }

    private static func columns(of terminal: Int32) -> Int {
        let columns = Int(dlm_terminal_columns(terminal))
        return columns > 0 ? columns : 80
    }

    /// One write(2) where the kernel takes all at once. Returns 0 or errno.
    private static func writeAll(_ text: String, to descriptor: Int32) -> Int32 {
        var text = text
        return text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)[...]
            while !rest.isEmpty {
                let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count >= 0 {
                    rest = rest.dropFirst(count)
                } else if errno == EAGAIN {
                    var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    poll(&ready, 1, -1)
                } else if errno != EINTR {
                    return errno
                }
            }
            return 0
        }
    }
}
