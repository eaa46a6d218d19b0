/// The end of a command, told to the terminal: by its bell, and by the sequence for notices where the terminal is known to
/// have that (OSC 9 of iTerm2, OSC 99 of kitty). A desktop that gives notices of its own gets neither sequence.
struct TerminalNotice: Sendable, Equatable {
    enum Sequence: Sendable {
        case none, osc9, osc99
    }

    let sequence: Sequence

    /// Multiplexers pass the environment of a terminal on, but not the sequence.
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

    /// - Parameter message: without control characters.
    func text(_ message: String) -> String {
        let bell = "\u{7}"
        return switch sequence {
        case .none: bell
        case .osc9: "\u{1B}]9;dlm: \(message)\u{1B}\\\(bell)"
        case .osc99: "\u{1B}]99;i=dlm;dlm: \(message)\u{1B}\\\(bell)"
        }
    }
}
