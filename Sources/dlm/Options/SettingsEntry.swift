import ArgumentParser
import DownloadKit

/// A value as somebody wrote it.
struct SettingsEntry: Equatable, Sendable {
    /// The long option.
    let key: String
    let text: String
    let origin: Origin
    /// The section it stands in; nil for what counts for all URLs.
    var section: SettingsSection?

    enum Origin: Equatable {
        /// Path and line.
        case file(String)
        case environment
    }

    /// The hosts of its section.
    var host: HostPattern? {
        if case .host(let pattern) = section { pattern } else { nil }
    }

    /// For messages: the file with the line and the key, or the variable.
    var place: String {
        switch origin {
        case .file(let place): "\(place): \(key)"
        case .environment: Self.variable(key)
        }
    }

    /// In the environment.
    static func variable(_ key: String) -> String {
        "DLM_" + key.uppercased().replacing("-", with: "_").replacing(".", with: "_")
    }

    /// Those in the environment. An empty variable is as good as none; others that begin with `DLM_` are not ours.
    static func entries(_ environment: [String: String]) -> [SettingsEntry] {
        guard environment.contains(where: { $0.key.hasPrefix("DLM_") && !$0.value.isEmpty }) else { return [] }
        return OptionScope.settings.compactMap { key in
            guard let text = environment[variable(key)], !text.isEmpty else { return nil }
            return SettingsEntry(key: key, text: text, origin: .environment)
        }
    }

    /// For the parser of ``SettingArguments``.
    /// - Parameter home: what `~/` at the beginning of a path stands for: no shell looks at it.
    func arguments(home: String?) throws(ValidationError) -> [String] {
        guard let option = OptionCatalog.settings[key] else { throw ValidationError("unknown option") }
        if option.isPath, text.hasPrefix("~/"), let home {
            return try option.arguments(FileNaming.path(home, String(text.dropFirst(2))), in: .settings)
        }
        return try option.arguments(text, in: .settings)
    }
}
