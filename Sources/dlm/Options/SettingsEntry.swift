import ArgumentParser
import DownloadKit

/// The value of a setting, as the user wrote it.
struct SettingsEntry: Equatable, Sendable {
    let key: String
    let text: String
    let origin: Origin
    /// The section of the setting; nil if the setting applies to all URLs.
    var section: SettingsSection?

    enum Origin: Equatable {
        /// An entry of `config.yaml`, with the path and the line.
        case file(String)
        case environment
    }

    var host: HostPattern? {
        if case .host(let pattern) = section { pattern } else { nil }
    }

    /// The place of the setting, for messages: the file with the line and the key, or the variable.
    var place: String {
        switch origin {
        case .file(let place): "\(place): \(key)"
        case .environment: Self.variable(key)
        }
    }

    static func variable(_ key: String) -> String {
        "DLM_" + key.uppercased().replacing("-", with: "_").replacing(".", with: "_")
    }

    /// Returns the settings in the environment. Empty variables and unknown variables that begin with `DLM_` are
    /// ignored.
    static func entries(_ environment: [String: String]) -> [SettingsEntry] {
        guard environment.contains(where: { $0.key.hasPrefix("DLM_") && !$0.value.isEmpty }) else { return [] }
        return OptionScope.settings.compactMap { key in
            guard let text = environment[variable(key)], !text.isEmpty else { return nil }
            return SettingsEntry(key: key, text: text, origin: .environment)
        }
    }

    /// Returns the arguments for the parser of ``SettingOptions``.
    /// - Parameter home: The folder for `~/` at the beginning of a path, because no shell expands it.
    func arguments(home: String?) throws(ValidationError) -> [String] {
        guard let option = OptionCatalog.settings[key] else { throw ValidationError("unknown option") }
        if option.isPath, text.hasPrefix("~/"), let home {
            return try option.arguments(FileNaming.path(home, String(text.dropFirst(2))), in: .settings)
        }
        return try option.arguments(text, in: .settings)
    }
}

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
