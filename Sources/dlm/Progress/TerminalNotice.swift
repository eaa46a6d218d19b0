/// The notification by the terminal at the end of a command: the bell, and on a terminal without a desktop also the
/// sequence that it is known to support (OSC 9 of iTerm2, OSC 99 of kitty).
struct TerminalNotice: Sendable, Equatable {
    /// The beginning of the sequence; nil for the bell alone.
    private let sequence: String?

    init(environment: [String: String]) {
        if environment.hasMultiplexer || DesktopNotice.hasDesktop(environment) {
            sequence = nil
        } else if environment.has("KITTY_WINDOW_ID") || environment["TERM"] == "xterm-kitty" {
            sequence = "99;i=dlm"
        } else {
            sequence = ["iTerm.app", "WezTerm", "ghostty"].contains(environment["TERM_PROGRAM"]) ? "9" : nil
        }
    }

    /// Returns the text to send. The message has no control characters.
    func text(_ message: String) -> String {
        (sequence.map { "\u{1B}]\($0);dlm: \(message)\u{1B}\\" } ?? "") + "\u{7}"
    }
}
