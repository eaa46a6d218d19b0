/// The notification by the terminal at the end of a command: the bell, and on a terminal without a desktop also the
/// sequence that it is known to support (OSC 9 of iTerm2, OSC 99 of kitty).
struct TerminalNotice: Sendable, Equatable {
    enum Sequence: Sendable {
        case none, osc9, osc99
    }

    let sequence: Sequence

    init(environment: [String: String]) {
        if environment.hasMultiplexer || DesktopNotice.hasDesktop(environment) {
            sequence = .none
        } else if environment.has("KITTY_WINDOW_ID") || environment["TERM"] == "xterm-kitty" {
            sequence = .osc99
        } else if ["iTerm.app", "WezTerm", "ghostty"].contains(environment["TERM_PROGRAM"]) {
            sequence = .osc9
        } else {
            sequence = .none
        }
    }

    /// Returns the text to send. The message has no control characters.
    func text(_ message: String) -> String {
        switch sequence {
        case .none: "\u{7}"
        case .osc9: "\u{1B}]9;dlm: \(message)\u{1B}\\\u{7}"
        case .osc99: "\u{1B}]99;i=dlm;dlm: \(message)\u{1B}\\\u{7}"
        }
    }
}
