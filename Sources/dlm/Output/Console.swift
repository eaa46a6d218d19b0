import CSystem
import DownloadKit
import Foundation
import Glibc
import Synchronization

/// The lines that the program prints: data to stdout, except for the bytes of a download, and messages for people to
/// stderr. The lines of the progress display (the progress block) stay below all other lines.
final class Console: Sendable {
    private struct State {
        var block = TerminalBlock()
        var isOutputClosed = false
        /// The errno of a failed write to stdout; 0 if there was none, or if only the reader closed the pipe.
        var outputFailure: Int32 = 0
        /// The lines for people that are printed when the screen is left; nil while there is no screen.
        var kept: [String]?
    }

    private let output: Int32
    private let errors: Int32
    let outputIsTerminal: Bool
    let errorsAreTerminal: Bool
    private let isOneTerminal: Bool
    private let state = Mutex(State())

    init(output: Int32 = STDOUT_FILENO, errors: Int32 = STDERR_FILENO) {
        self.output = output
        self.errors = errors
        outputIsTerminal = isatty(output) == 1
        errorsAreTerminal = isatty(errors) == 1
        isOneTerminal = outputIsTerminal && errorsAreTerminal && Self.device(output) == Self.device(errors)
    }

    /// Returns a console that prints data to stderr instead of stdout, so that stdout stays empty.
    func withoutOutput() -> Console { Console(output: errors, errors: errors) }

    /// Opens `/dev/null` for standard streams that the caller closed, so that no other file gets their numbers.
    static func openClosedStreams() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) == -1 {
            if descriptor == STDOUT_FILENO { lacksOutput.store(true, ordering: .relaxed) }
            // open(2) returns the lowest free number, which is the number of the closed stream.
            _ = open("/dev/null", O_RDWR)
        }
    }

    private static let lacksOutput = Atomic(false)

    var outputIsMissing: Bool { output == STDOUT_FILENO && Self.lacksOutput.load(ordering: .relaxed) }

    var outputColumns: Int? { outputIsTerminal ? outputSize.columns : nil }

    /// The present number of columns and rows of the terminal that is stderr.
    var size: (columns: Int, rows: Int) { Self.size(of: errors) }

    /// The present number of columns and rows of the terminal that is stdout.
    var outputSize: (columns: Int, rows: Int) { Self.size(of: output) }

    /// Whether this process is in the foreground of its terminal. Otherwise another process uses the terminal.
    var isInForeground: Bool {
        let group = tcgetpgrp(errors)
        return group < 0 || group == getpgrp()
    }

    /// Prints a line of data without changes.
    func print(_ line: String) {
        state.withLock { state in
            guard outputIsTerminal, !state.block.isEmpty else { return write(line + "\n", state: &state) }
            let (before, after) = state.block.around(columns: size.columns)
            // Everything is written at once. With several writes, the block would flicker.
            if isOneTerminal { return write(before + line + "\n" + after, state: &state) }
            send(before)
            write(line + "\n", state: &state)
            send(after)
        }
    }

    func print(path: String) { print(outputIsTerminal ? Escaping.line(path) : path) }

    func report(_ message: String) { note("dlm: " + Escaping.line(Redaction.hidden(message))) }

    /// Prints a line for people without changes. The text must be safe for terminals and without secrets.
    func note(_ line: String) {
        state.withLock { state in
            if state.kept != nil {
                state.kept?.append(line)
                return
            }
            let (before, after) = state.block.around(columns: size.columns)
            send(before + line + "\n" + after)
        }
    }

    /// Redraws the progress block, in one write, after a control sequence that prints nothing.
    func draw(_ lines: [String], control: String = "") {
        state.withLock { send(control + $0.block.draw(lines, columns: size.columns)) }
    }

    /// Replaces the lines of the progress block, which are drawn with the next line that is printed above them.
    func outdateBlock(by lines: [String]) { state.withLock { $0.block.outdate(by: lines) } }

    /// Forgets the progress block, but leaves it on the terminal. An echoed key such as `^C` is overwritten.
    func keepBlock(control: String = "") {
        state.withLock { state in
            send(control + (state.block.isEmpty ? "" : "\r\u{1B}[K"))
            state.block = TerminalBlock()
        }
    }

    func signal(_ control: String) {
        if errorsAreTerminal { state.withLock { _ in send(control) } }
    }

    func clearBlock(control: String = "") {
        state.withLock { send(control + $0.block.erase(columns: size.columns)) }
    }

    func paint(_ text: String) { if !text.isEmpty { state.withLock { write(text, state: &$0) } } }

    /// Keeps all messages for people until ``releaseMessages()``, because they would damage the screen.
    func keepMessages() { state.withLock { $0.kept = [] } }

    func releaseMessages() {
        for line in state.withLock({ $0.kept.take() }) ?? [] { note(line) }
    }

    /// Whether writing to stdout has failed, for example because its reader has ended.
    var isOutputClosed: Bool { state.withLock(\.isOutputClosed) }

    /// Runs `print` until it returns or stdout has no reader; else it would not end before the next event.
    func whileRead(_ time: any TimeSource, print: @escaping @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask(operation: print)
            group.addTask { await self.outputClosed(time) }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Waits until stdout has no reader, for which poll(2) reports POLLERR, or the task is cancelled.
    private func outputClosed(_ time: any TimeSource) async {
        while !Task.isCancelled, !isOutputClosed {
            var output = pollfd(fd: output, events: 0, revents: 0)
            if poll(&output, 1, 0) == 1, output.revents & Int16(POLLERR | POLLHUP) != 0 { return }
            try? await time.sleep(for: .milliseconds(200))
        }
    }

    /// Removes the progress block, and returns the exit status: not 0 if data could not be written, unless the reader
    /// of stdout had ended.
    func finish(_ status: Int32) -> Int32 {
        let failure = state.withLock { state in
            send(state.block.erase(columns: size.columns))
            return state.outputFailure
        }
        guard failure != 0 else { return status }
        report("standard output: \(FileFailure.system(operation: "write", errno: failure).description)")
        return status == 0 ? 3 : status
    }

    /// Writes a line to stderr just before the end of the process, without waiting for a lock or a reader.
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

    /// Writes to stderr. A failure is ignored, because there is no other place to report it.
    private func send(_ text: String) {
        if !text.isEmpty { _ = Self.writeAll(text, to: errors) }
    }

    private static func device(_ terminal: Int32) -> dev_t? {
        var status = stat()
        return fstat(terminal, &status) == 0 ? status.st_rdev : nil
    }

    private static func size(of terminal: Int32) -> (columns: Int, rows: Int) {
        let (columns, rows) = (Int(dlm_terminal_columns(terminal)), Int(dlm_terminal_rows(terminal)))
        return (columns > 0 ? columns : 80, rows > 0 ? rows : 24)
    }

    /// Writes the text with one write(2) if the kernel takes all of it at once. Returns 0 or errno.
    private static func writeAll(_ text: String, to descriptor: Int32) -> Int32 {
        var text = text
        return text.withUTF8 { FileBytes.write(UnsafeRawBufferPointer($0), to: descriptor) ? 0 : errno }
    }
}
