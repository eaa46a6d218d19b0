import CSystem
import DownloadKit
import Foundation
import Glibc
import Synchronization

/// The terminal as a screen: the alternate screen of stdout, and keys from stdin. Only changed lines are written.
final class TerminalScreen: Sendable {
    private struct State {
        var lines: [String] = []
        var size = (columns: 0, rows: 0)
        var isOpen = false
        /// Whether the process was stopped and may not have the terminal again.
        var isAway = false
        var title = ""
    }

    /// The time after which an ESC without a following byte is the Escape key, in milliseconds.
    private static let escapePause: Int32 = 50
    /// The time after which a sequence that does not go on was none, in milliseconds.
    private static let sequencePause: Int32 = 500
    /// The time between two looks for keys while the process is in the background, in milliseconds.
    private static let backgroundPause: Int32 = 200

    private let console: Console
    /// Whether the terminal keeps titles, so that the old one comes back at the end.
    private let hasTitle: Bool
    private let state = Mutex(State())

    /// Returns nil if there is no terminal for a screen, or if another process uses the terminal.
    init?(_ console: Console, environment: [String: String]) {
        guard console.outputIsTerminal, isatty(STDIN_FILENO) == 1, !["", "dumb"].contains(environment["TERM"] ?? ""),
            Self.isInForeground
        else { return nil }
        self.console = console
        hasTitle = !["linux", "vt"].contains { environment["TERM"]?.hasPrefix($0) ?? false }
    }

    static var isInForeground: Bool { tcgetpgrp(STDIN_FILENO) == getpgrp() }

    var size: (columns: Int, rows: Int) { console.outputSize }

    /// Takes over the terminal. Messages for people are kept until ``close()``. Returns false on failure.
    func open() -> Bool {
        state.withLock { state in
            guard dlm_screen_enter(0) == 0 else { return false }
            console.keepMessages()
            state.isOpen = true
            return true
        }
    }

    func close() {
        state.withLock { state in
            guard state.isOpen else { return }
            state.isOpen = false
            dlm_screen_leave()
            console.releaseMessages()
        }
    }

    func draw(_ lines: [String], size: (columns: Int, rows: Int), title: String) {
        state.withLock { state in
            guard state.isOpen, !state.isAway else { return }
            var text = ""
            if state.size != size {
                text = "\u{1B}[0m\u{1B}[2J"
                state.lines = []
                state.size = size
            }
            for (row, line) in lines.enumerated() where row >= state.lines.count || state.lines[row] != line {
                text += "\u{1B}[\(row + 1);1H\(line)\u{1B}[K"
            }
            state.lines = lines
            if hasTitle, state.title != title {
                state.title = title
                text += "\u{1B}]2;\(title)\u{7}"
            }
            console.paint(text)
        }
    }

    /// Stops the process if the user asked for that (Ctrl-Z), and takes over the terminal again when the process
    /// continues, after this or any other stop. Returns whether everything must be drawn again.
    func stopIfAsked() -> Bool {
        state.withLock { state in
            if state.isOpen, dlm_screen_stop_if_asked() == 1 || dlm_screen_was_continued() == 1 { state.isAway = true }
            // In the background, as after `bg`, another process uses the terminal.
            guard state.isAway, Self.isInForeground else { return false }
            state.isAway = false
            state.size = (0, 0)
            state.title = ""
            _ = dlm_screen_enter(0)
            return true
        }
    }

    /// Puts a text into the clipboard of the terminal (OSC 52), if the terminal allows that.
    func copy(_ text: String) {
        state.withLock { state in
            guard state.isOpen, !state.isAway else { return }
            console.paint("\u{1B}]52;c;\(Data(text.utf8).base64EncodedString())\u{7}")
        }
    }

    /// Reads keys on a thread of its own until the terminal is closed, which is reported as nil, or until `isWanted`
    /// returns false. With `isWanted`, the thread asks at least every ``backgroundPause``.
    static func readKeys(
        while isWanted: (@Sendable () -> Bool)? = nil, _ report: @escaping @Sendable ([Key]?) -> Void
    ) {
        Thread.detachNewThread {
            var decoder = KeyDecoder()
            var bytes = [UInt8](repeating: 0, count: 4096)
            while isWanted?() ?? true {
                // In the background, what is typed is for another process.
                let isHere = isInForeground
                var input = pollfd(fd: isHere ? STDIN_FILENO : -1, events: Int16(POLLIN), revents: 0)
                let idle = isHere && isWanted == nil ? -1 : backgroundPause
                let pause = decoder.isWaiting ? escapePause : decoder.isInside ? sequencePause : idle
                let ready = poll(&input, 1, isHere ? pause : backgroundPause)
                if ready == 0, let key = decoder.timeOut() { report([key]) }
                guard ready > 0, isWanted?() ?? true else { continue }
                let count = read(STDIN_FILENO, &bytes, bytes.count)
                if count < 0, errno == EINTR || errno == EAGAIN { continue }
                if count < 0, errno == EIO, !isInForeground { continue }
                guard count > 0 else { return report(nil) }
                let keys = decoder.decode(bytes[..<count])
                if !keys.isEmpty { report(keys) }
            }
        }
    }
}
