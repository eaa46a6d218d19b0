import ArgumentParser

/// The parser's error about an option in a file (a list of URLs, or the settings). The text has no dashes, because the
/// user wrote none.
struct OptionFailure {
    private let why: String
    /// The value, if the parser's message contains it. Otherwise nil, because the value may be a secret.
    private let value: String?

    init(_ error: any Error, of type: (some ParsableArguments).Type, option: String, value: String) {
        if let error = error as? ValidationError {
            (why, self.value) = (Self.withoutOption(error.message), nil)
            return
        }
        let message = UsageReport.sentence(error, of: type)
        let start = "the value '\(value)' is invalid for '--\(option)"
        guard message.hasPrefix(start), let end = message.dropFirst(start.count).firstIndex(of: "'") else {
            (why, self.value) = (Self.withoutOption(message), nil)
            return
        }
        let rest = message[message.index(after: end)...].drop { ":; ".contains($0) }
        (why, self.value) = (rest.isEmpty ? "give a number" : String(rest), value)
    }

    func text(_ option: String) -> String {
        value.map { "\(option): '\(SettingsError.short($0))' cannot be used; \(why)" } ?? "\(option): \(why)"
    }

    /// Removes an option from the beginning of a message such as `--retries -1: give 0 or more`, because ``text(_:)``
    /// names the option as the user wrote it.
    private static func withoutOption(_ message: String) -> String {
        guard message.hasPrefix("-"), let colon = message.firstRange(of: ": ") else { return message }
        return String(message[colon.upperBound...])
    }
}
