import DownloadKit

/// The progress in the taskbar or the tab of the terminal (the sequence OSC 9;4 of ConEmu). The sequence is sent only
/// to terminals that are known to support it, because other terminals would show it as a notification.
struct TaskbarProgress {
    private let isSupported: Bool
    private var shown = Self.nothing

    private static let nothing = "0"
    private static let indeterminate = "3"

    init(environment: [String: String] = [:]) {
        // GNOME's terminals, from VTE 0.80 on.
        let hasVTE = environment["VTE_VERSION"].flatMap { Int($0) } ?? 0 >= 8000
        isSupported =
            !environment.hasMultiplexer
            && (environment.has("WT_SESSION") || environment["ConEmuANSI"] == "ON" || hasVTE
                || ["ghostty", "WezTerm"].contains(environment["TERM_PROGRAM"]))
    }

    /// Returns the sequence that shows a frame's progress; empty if the terminal already shows it.
    mutating func text(_ frame: ProgressFrame) -> String {
        let (received, total) =
            frame.total.map { ($0.received, $0.bytes) } ?? frame.rows.first.map { ($0.received, $0.total) } ?? (0, nil)
        guard let percent = Units.percent(received, of: total) else { return show(Self.indeterminate) }
        // 1 means normal progress. 4 means a warning: no download is running.
        return show("\(frame.rows.contains { $0.state == .running } ? 1 : 4);\(percent)")
    }

    mutating func end() -> String { show(Self.nothing) }

    private mutating func show(_ progress: String) -> String {
        guard isSupported, progress != shown else { return "" }
        shown = progress
        return "\u{1B}]9;4;\(progress)\u{1B}\\"
    }
}
