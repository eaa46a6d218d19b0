import DownloadKit

/// Colours, or none (`--color`, NO_COLOR, CLICOLOR).
struct Style: Equatable {
    var isColored = false
    /// The terminal shows more than ASCII.
    var isUnicode = true

    func dim(_ text: String) -> String { wrapped(text, "2") }
    func good(_ text: String) -> String { wrapped(text, "32") }
    func bad(_ text: String) -> String { wrapped(text, "31") }
    func warning(_ text: String) -> String { wrapped(text, "33") }
    func accent(_ text: String) -> String { wrapped(text, "36") }

    /// - Parameter state: of a download, as a word; nil colours nothing.
    func state(_ state: String?, _ text: String) -> String {
        switch state.flatMap(DownloadState.Kind.init(rawValue:)) {
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

    /// - Parameter isTerminal: of the stream that is written to.
    /// NO_COLOR beats CLICOLOR_FORCE beats CLICOLOR (no-color.org, bixense.com/clicolors); the option beats all.
    static func chosen(_ choice: ColorChoice, isTerminal: Bool, environment: [String: String]) -> Style {
        Style(
            isColored: colored(choice, isTerminal: isTerminal, environment: environment),
            isUnicode: isUnicode(environment))
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

    /// A locale that says something else than UTF-8 is believed; none at all (containers) is not taken as one.
    private static func isUnicode(_ environment: [String: String]) -> Bool {
        for name in ["LC_ALL", "LC_CTYPE", "LANG"] {
            guard let value = environment[name]?.lowercased().utf8, !value.isEmpty else { continue }
            // Not String.contains, whose first call costs every start of the program a search through all its types.
            return value.indices.contains {
                let rest = value[$0...]
                return rest.starts(with: "utf-8".utf8) || rest.starts(with: "utf8".utf8)
            }
        }
        return true
    }
}
