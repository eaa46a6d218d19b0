/// A setting in force, for `dlm config --json`.
struct SettingDocument: Document, Equatable {
    var version = 1
    let key: String
    /// As it was written.
    let value: String
    /// `default`, `file` or `environment`.
    let origin: String
    /// The path with the line, or the variable; nil for a default.
    let place: String?

    /// - Parameter entry: nil where nobody set it.
    init(_ key: SettingsKey, _ entry: SettingsEntry?) {
        self.key = key.rawValue
        value = entry?.text ?? key.standard
        switch entry?.origin {
        case nil: (origin, place) = ("default", nil)
        case .environment: (origin, place) = ("environment", key.variable)
        case .file(let file): (origin, place) = ("file", file)
        }
    }
}
