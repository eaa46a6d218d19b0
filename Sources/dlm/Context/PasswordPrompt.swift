import ArgumentParser
import Glibc

/// The prompt for a password on the controlling terminal, without echo, even if standard streams are redirected.
enum PasswordPrompt {
    static func ask(for user: String, _ signals: Signals) throws -> String {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC)
        guard terminal >= 0 else {
            throw ValidationError(
                "-u \(user): no password given, and no terminal to ask for it; give NAME:PASSWORD or --netrc")
        }
        defer { close(terminal) }
        var settings = termios()
        guard tcgetattr(terminal, &settings) == 0 else {
            throw ValidationError(
                "-u \(user): no password given, and the terminal cannot hide its input; give NAME:PASSWORD or --netrc")
        }
        let before = settings
        // A signal that ends the process during the prompt must not leave the terminal without echo.
        signals.onInterrupt { _ in restore(before) }
        settings.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(terminal, TCSAFLUSH, &settings)
        write("Password for \(user): ", to: terminal)
        let line = readLine(from: terminal)
        write("\n", to: terminal)
        restore(before)
        return String(decoding: line, as: UTF8.self)
    }

    private static func restore(_ before: termios) {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC)
        guard terminal >= 0 else { return }
        var settings = before
        tcsetattr(terminal, TCSANOW, &settings)
        close(terminal)
    }

    private static func readLine(from terminal: Int32) -> [UInt8] {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while true {
            let count = read(terminal, &byte, 1)
            if count < 0, errno == EINTR { continue }
            if count <= 0 || byte == UInt8(ascii: "\n") { return line }
            line.append(byte)
        }
    }

    private static func write(_ text: String, to terminal: Int32) {
        _ = Array(text.utf8).withUnsafeBytes { Glibc.write(terminal, $0.baseAddress, $0.count) }
    }
}
