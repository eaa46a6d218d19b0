import ArgumentParser
import DownloadKit
import Foundation

/// `option=value` below a URL in a list, as aria2 has it.
struct OptionText: Equatable {
    /// The whole line.
    let line: String
    /// As it was written.
    let written: String
    /// The long option of dlm.
    let name: String
    let value: String

    /// Whether it is about the URL above it: an indented URL is not.
    static func isOption(_ line: String) -> Bool {
        guard let first = line.utf8.first, first == UInt8(ascii: " ") || first == UInt8(ascii: "\t") else {
            return false
        }
        return !line.utf8.prefix { $0 != UInt8(ascii: "=") }.contains { ":/".utf8.contains($0) }
    }

    /// Nil without a name or `=`.
    init?(_ line: String) {
        guard let equals = line.utf8.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        self.line = line
        written = line[..<equals].trimmingCharacters(in: .whitespaces)
        guard !written.isEmpty else { return nil }
        let text = line[line.utf8.index(after: equals)...].trimmingCharacters(in: .whitespaces)
        (name, value) = Self.meaning(written, text)
    }

    /// Lists of aria2 work as they are where dlm has the same under another name.
    private static func meaning(_ name: String, _ value: String) -> (name: String, value: String) {
        switch (name, value) {
        case ("checksum", _):
            // There it is sha-256=HEX.
            guard let equals = value.firstIndex(of: "=") else { return (name, value) }
            let algorithm = value[..<equals].replacing("-", with: "")
            return (name, "\(algorithm):\(value[value.index(after: equals)...])")
        case ("allow-overwrite", "true"): return ("if-exists", "overwrite")
        case ("auto-file-renaming", "true"): return ("if-exists", "rename")
        case ("check-certificate", "false"): return ("insecure", "true")
        default: return (aliases[name] ?? name, value)
        }
    }

    /// aria2's names for what means the same.
    private static let aliases = [
        "out": "output", "dir": "directory", "max-download-limit": "limit-rate", "split": "connections",
        "max-connection-per-server": "connections", "retry-wait": "retry-delay", "timeout": "stall-timeout",
        "all-proxy": "proxy", "load-cookies": "cookie-file", "save-cookies": "cookie-jar", "pause": "paused",
    ]

    /// For the parser of ``ItemArguments``.
    func arguments() throws(ValidationError) -> [String] {
        if OptionScope.item.contains(name), let option = OptionCatalog.item[name] {
            return try option.arguments(value, in: .item)
        }
        if OptionCatalog.get[name] != nil {
            throw ValidationError("is about the whole command, not about one URL; give it on the command line")
        }
        throw ValidationError("unknown option; \(OptionCatalog.hint(for: written, in: OptionScope.item))")
    }

    /// One line: what, and why not.
    func problem(_ error: any Error) -> String {
        OptionFailure(error, of: ItemArguments.self, option: name, value: value).text(written)
    }
}
