import DownloadKit

/// Progress for the taskbar or the tab of the terminal (the sequence OSC 9;4 of ConEmu), as text to send. Others take it
/// for a notification, so it is only for terminals that are known to have it.
struct TaskbarProgress {
    private let isSupported: Bool
    /// What the terminal shows.
    private var shown = Self.nothing

    private static let nothing = "0"
    private static let indeterminate = "3"

    init(environment: [String: String] = [:]) { isSupported = Self.isSupported(environment) }

    /// Empty when the terminal shows that already.
    mutating func text(_ frame: ProgressFrame) -> String {
        let (received, total) =
            frame.total.map { ($0.received, $0.bytes) } ?? frame.rows.first.map { ($0.received, $0.total) } ?? (0, nil)
        guard let percent = Units.percent(received, of: total) else { return show(Self.indeterminate) }
        // 1 is progress as it should be, 4 a warning: nothing goes on.
        return show("\(frame.rows.contains { $0.state == .running } ? 1 : 4);\(percent)")
    }

    /// The terminal shows nothing any more.
    mutating func end() -> String { show(Self.nothing) }

    private mutating func show(_ progress: String) -> String {
        guard isSupported, progress != shown else { return "" }
        shown = progress
        return "\u{1B}]9;4;\(progress)\u{1B}\\"
    }

    /// Multiplexers pass the environment of a terminal on, but not the sequence.
    private static func isSupported(_ environment: [String: String]) -> Bool {
        func has(_ name: String) -> Bool { !(environment[name] ?? "").isEmpty }
        if has("TMUX") || has("STY") || has("ZELLIJ") { return false }
        // GNOME's terminals, from VTE 0.80 on.
        let hasVTE = environment["VTE_VERSION"].flatMap { Int($0) } ?? 0 >= 8000
        return has("WT_SESSION") || environment["ConEmuANSI"] == "ON" || hasVTE
            || ["ghostty", "WezTerm"].contains(environment["TERM_PROGRAM"])
    }
}
