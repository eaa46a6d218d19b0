import ArgumentParser
import DownloadKit
import Glibc

/// Asks for a password on the terminal, without showing it, wherever the standard streams lead.
enum PasswordPrompt {
    static func ask(for user: String) throws -> String {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC)
        guard terminal >= 0 else {
            throw ValidationError(
                "-u \(user): no password, and no terminal to ask for it; give NAME:PASSWORD or --netrc")
        }
        defer { close(terminal) }
        var before = termios()
        guard tcgetattr(terminal, &before) == 0 else {
            throw ValidationError(
                "-u \(user): no password, and the terminal cannot hide it; give NAME:PASSWORD or --netrc")
        }
        var hidden = before
        // Ctrl-C comes as a character: the terminal must be as before when the process ends.
        hidden.c_lflag &= ~tcflag_t(ECHO | ISIG)
        tcsetattr(terminal, TCSAFLUSH, &hidden)
        write("Password for \(user): ", to: terminal)
        let line = readLine(from: terminal)
        write("\n", to: terminal)
        tcsetattr(terminal, TCSAFLUSH, &before)
        guard let line else { Signals.end(by: SIGINT) }
        return String(decoding: line, as: UTF8.self)
    }

    /// Nil when it was interrupted.
    private static func readLine(from terminal: Int32) -> [UInt8]? {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while true {
            let count = read(terminal, &byte, 1)
            if count < 0, errno == EINTR { continue }
            if count <= 0 || byte == UInt8(ascii: "\n") { return line }
            if [3, 28].contains(byte) { return nil }
            line.append(byte)
        }
    }

    private static func write(_ text: String, to terminal: Int32) {
        _ = Array(text.utf8).withUnsafeBytes { Glibc.write(terminal, $0.baseAddress, $0.count) }
    }
}
