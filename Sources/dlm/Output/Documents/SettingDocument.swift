import DownloadKit

/// A setting with its current value, for `dlm config --json`.
struct SettingDocument: Document, Equatable {
    var version = 1
    let key: String
    let value: String
    let origin: String
    let place: String?
    let host: String?
    let rule: Int?

    init(_ key: String, _ entry: SettingsEntry?) {
        self.key = key
        value = entry.map { Self.shown(key, $0.text) } ?? Self.defaults[key] ?? "-"
        host = entry?.host?.text
        rule = if case .rule(let rule) = entry?.section { rule.number } else { nil }
        switch entry?.origin {
        case nil: (origin, place) = ("default", nil)
        case .environment: (origin, place) = ("environment", SettingsEntry.variable(key))
        case .file(let file): (origin, place) = ("file", file)
        }
    }

    private static let defaults = SettingOptions.defaults

    private static func shown(_ key: String, _ text: String) -> String {
        switch key {
        case "header": RequestHeader(text)?.description ?? "(hidden)"
        case "user": text.firstIndex(of: ":").map { text[..<$0] + ":(hidden)" } ?? text
        default: Redaction.hidden(text)
        }
    }
}
