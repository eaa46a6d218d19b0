/// An error in a setting of `config.yaml` or of the environment.
struct SettingsError: Error, Equatable, CustomStringConvertible {
    static let exitStatus: Int32 = 2

    /// One line with the place, the error, and the advice.
    let message: String

    var description: String { message }

    init(_ message: String) { self.message = message }

    /// Returns the text in shortened form, because a typing error can turn half a file into one key or value.
    static func short(_ text: String) -> String { text.count > 60 ? text.prefix(60) + "..." : text }
}
