/// Something in `config.yaml` or the environment that dlm cannot go by.
struct SettingsError: Error, Equatable, CustomStringConvertible {
    static let exitStatus: Int32 = 2

    /// One line: where, what, and what to do.
    let message: String

    var description: String { message }

    init(_ message: String) { self.message = message }

    /// - Parameters:
    ///   - names: those that can stand there.
    ///   - place: file and line.
    init(unknown word: String, among names: [String], at place: String) {
        let hint = OptionCatalog.hint(for: word, in: names)
        self.init("\(place): unknown key '\(Self.short(word))'; \(hint)")
    }

    /// A slip can make a key or a value of half a file.
    static func short(_ text: String) -> String { text.count > 60 ? text.prefix(60) + "..." : text }
}
