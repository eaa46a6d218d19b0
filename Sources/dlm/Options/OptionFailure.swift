import ArgumentParser

/// What the parser has to say of an option that was written as text, in the words of a file.
struct OptionFailure {
    private let why: String
    /// Only what the parser repeats is no secret.
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

    /// `--retries -1: give 0 or more` is about an option that stands before it already.
    private static func withoutOption(_ message: String) -> String {
        guard message.hasPrefix("-"), let colon = message.firstRange(of: ": ") else { return message }
        return String(message[colon.upperBound...])
    }
}
