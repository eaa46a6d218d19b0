/// The notification by the terminal at the end of a command. It is the bell, and also the sequence for notifications if
/// the terminal is known to support one (OSC 9 of iTerm2, OSC 99 of kitty). On a desktop, which shows notifications
/// itself, only the bell is used.
struct TerminalNotice: Sendable, Equatable {
    enum Sequence: Sendable {
        case none, osc9, osc99
    }

    let sequence: Sequence

    /// Chooses the sequence by the environment. Multiplexers such as tmux are excluded, because they pass on the
    /// environment of the terminal, but not the sequence.
    init(environment: [String: String]) {
        func has(_ name: String) -> Bool { !(environment[name] ?? "").isEmpty }
        if has("TMUX") || has("STY") || has("ZELLIJ") || DesktopNotice.hasDesktop(environment) {
            sequence = .none
        } else if has("KITTY_WINDOW_ID") || environment["TERM"] == "xterm-kitty" {
            sequence = .osc99
        } else if ["iTerm.app", "WezTerm", "ghostty"].contains(environment["TERM_PROGRAM"]) {
            sequence = .osc9
        } else {
            sequence = .none
        }
    }

    func text(_ ledger: Ledger) -> String { text(NoticeText.of(ledger)) }

    /// Returns the text to send.
    /// - Parameter message: the message, without control characters.
    func text(_ message: String) -> String {
        let bell = "\u{7}"
        return switch sequence {
        case .none: bell
        case .osc9: "\u{1B}]9;dlm: \(message)\u{1B}\\\(bell)"
        case .osc99: "\u{1B}]99;i=dlm;dlm: \(message)\u{1B}\\\(bell)"
        }
    }
}
