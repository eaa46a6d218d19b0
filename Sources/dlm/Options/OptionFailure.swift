import ArgumentParser

/// The parser's error about an option that was written as text, worded for a file instead of a command line.
struct OptionFailure {
    private let why: String
    /// The value, if the parser repeats it. Any other value may be a secret.
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

    /// Returns the message without an option at its beginning, as in `--retries -1: give 0 or more`. The final text
    /// names the option itself.
    private static func withoutOption(_ message: String) -> String {
        guard message.hasPrefix("-"), let colon = message.firstRange(of: ": ") else { return message }
        return String(message[colon.upperBound...])
    }
}
