import DownloadKit

/// The colours and characters of text (`--color`, NO_COLOR, CLICOLOR, and the locale).
struct Style: Equatable {
    var isColored = false
    /// Whether the terminal shows more characters than ASCII.
    var isUnicode = true
    /// Whether the terminal is known to have links (OSC 8). Others might show the sequence.
    var hasLinks = false

    func dim(_ text: String) -> String { wrapped(text, "2") }
    func good(_ text: String) -> String { wrapped(text, "32") }
    func bad(_ text: String) -> String { wrapped(text, "31") }
    func warning(_ text: String) -> String { wrapped(text, "33") }
    func accent(_ text: String) -> String { wrapped(text, "36") }
    /// Returns a text in reverse video. It is no colour, so it is there even without colours.
    func selected(_ text: String) -> String { "\u{1B}[7m\(text)\u{1B}[0m" }

    /// Returns a text that is a link to a file, if the terminal has links.
    func link(_ text: String, to path: String?) -> String {
        guard hasLinks, let path else { return text }
        return "\u{1B}]8;;\(FileLink.url(path))\u{1B}\\\(text)\u{1B}]8;;\u{1B}\\"
    }

    /// Returns a text in the colour of a state; nil for no colour.
    func state(_ state: DownloadState.Kind?, _ text: String) -> String {
        switch state {
        case .running: accent(text)
        case .waiting: warning(text)
        case .completed: good(text)
        case .failed: bad(text)
        case .cancelled: dim(text)
        case .queued, .paused, nil: text
        }
    }

    private func wrapped(_ text: String, _ code: String) -> String {
        isColored && !text.isEmpty ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }

    /// Returns the style for an output stream. The option `--color` has precedence over NO_COLOR, NO_COLOR over
    /// CLICOLOR_FORCE, and CLICOLOR_FORCE over CLICOLOR (no-color.org, bixense.com/clicolors).
    static func chosen(_ choice: ColorChoice, isTerminal: Bool, environment: [String: String]) -> Style {
        Style(
            isColored: colored(choice, isTerminal: isTerminal, environment: environment),
            isUnicode: isTerminal && isUnicode(environment), hasLinks: isTerminal && FileLink.isSupported(environment))
    }

    private static func colored(_ choice: ColorChoice, isTerminal: Bool, environment: [String: String]) -> Bool {
        switch choice {
        case .always: return true
        case .never: return false
        case .auto:
            if environment["NO_COLOR"].map({ !$0.isEmpty }) ?? false { return false }
            if let force = environment["CLICOLOR_FORCE"], !force.isEmpty, force != "0" { return true }
            return isTerminal && environment["TERM"] != "dumb" && environment["CLICOLOR"] != "0"
        }
    }

    /// Returns whether the terminal shows more characters than ASCII. If a locale is set, its encoding must be UTF-8.
    /// If no locale is set, as in containers, the terminal is assumed to show UTF-8.
    private static func isUnicode(_ environment: [String: String]) -> Bool {
        for name in ["LC_ALL", "LC_CTYPE", "LANG"] {
            guard let value = environment[name]?.lowercased().utf8, !value.isEmpty else { continue }
            // String.contains is not used. In each new process, its first call makes the Swift runtime search all types
            // of the program for a conformance.
            return value.indices.contains {
                let rest = value[$0...]
                return rest.starts(with: "utf-8".utf8) || rest.starts(with: "utf8".utf8)
            }
        }
        return true
    }
}
