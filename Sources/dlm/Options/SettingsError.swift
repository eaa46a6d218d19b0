import ArgumentParser

/// Something in `config.yaml` or the environment that dlm cannot go by.
struct SettingsError: Error, Equatable, CustomStringConvertible {
    static let exitStatus: Int32 = 2

    /// One line: where, what, and what to do.
    let message: String

    var description: String { message }

    init(_ message: String) { self.message = message }

    /// A value that its key does not take.
    init(_ entry: SettingsEntry, _ error: any Error) {
        let why = (error as? ValidationError)?.message ?? "\(error)"
        self.init("\(entry.place): '\(Self.short(entry.text))' cannot be used; \(why)")
    }

    /// - Parameter place: file and line.
    init(unknown word: String, at place: String) {
        let hint =
            SettingsKey.nearest(to: word).map { "did you mean '\($0.rawValue)'?" }
            ?? "the keys are \(SettingsKey.allCases.map(\.rawValue).joined(separator: ", "))"
        self.init("\(place): unknown key '\(Self.short(word))'; \(hint)")
    }

    /// A slip can make a key or a value of half a file.
    static func short(_ text: String) -> String { text.count > 60 ? text.prefix(60) + "..." : text }
}
