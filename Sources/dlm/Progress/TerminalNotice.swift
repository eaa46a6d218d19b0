/// The notification by the terminal at the end of a command. It is the bell, and also the sequence for notifications if
/// the terminal is known to support one (OSC 9 of iTerm2, OSC 99 of kitty). On a desktop, which shows notifications
/// itself, only the bell is used.
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
