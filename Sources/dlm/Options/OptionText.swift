import ArgumentParser
import DownloadKit
import Foundation

/// A line `option=value` below a URL in a list, in the format of aria2.
struct OptionText: Equatable {
    let line: String
    /// The name of the option as it was written.
    let written: String
    let name: String
    let value: String

    /// Returns whether a line is an option for the URL above it. An indented URL is not an option.
    static func isOption(_ line: String) -> Bool {
        guard let first = line.utf8.first, first == UInt8(ascii: " ") || first == UInt8(ascii: "\t") else {
            return false
        }
        return !line.utf8.prefix { $0 != UInt8(ascii: "=") }.contains { ":/".utf8.contains($0) }
    }

    /// Returns nil if the line has no name or no `=`.
    init?(_ line: String) {
        guard let equals = line.utf8.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        self.line = line
        written = line[..<equals].trimmingCharacters(in: .whitespaces)
        guard !written.isEmpty else { return nil }
        let text = line[line.utf8.index(after: equals)...].trimmingCharacters(in: .whitespaces)
        (name, value) = Self.meaning(written, text)
    }

    /// Returns the name and the value that dlm uses. Options of aria2 for which dlm has another name are translated, so
    /// that lists written for aria2 work.
    private static func meaning(_ name: String, _ value: String) -> (name: String, value: String) {
        switch (name, value) {
        case ("checksum", _):
            // In aria2 the value has the form sha-256=HEX.
            guard let equals = value.firstIndex(of: "=") else { return (name, value) }
            let algorithm = value[..<equals].replacing("-", with: "")
            return (name, "\(algorithm):\(value[value.index(after: equals)...])")
        case ("allow-overwrite", "true"): return ("if-exists", "overwrite")
        case ("auto-file-renaming", "true"): return ("if-exists", "rename")
        case ("check-certificate", "false"): return ("insecure", "true")
        default: return (aliases[name] ?? name, value)
        }
    }

    /// The names of dlm's options by the names of aria2's options that mean the same.
    private static let aliases = [
        "out": "output", "dir": "directory", "max-download-limit": "limit-rate", "split": "connections",
        "max-connection-per-server": "connections", "retry-wait": "retry-delay", "timeout": "stall-timeout",
        "all-proxy": "proxy", "load-cookies": "cookie-file", "save-cookies": "cookie-jar", "pause": "paused",
    ]

    /// - Throws: a usage error if a list cannot have this option.
    func arguments() throws(ValidationError) -> [String] {
        if OptionScope.item.contains(name), let option = OptionCatalog.item[name] {
            return try option.arguments(value, in: .item)
        }
        if OptionCatalog.get[name] != nil {
            throw ValidationError("applies to the whole command, not to one URL; give it on the command line")
        }
        throw ValidationError("unknown option; \(OptionCatalog.hint(for: written, in: OptionScope.item))")
    }

    func problem(_ error: any Error) -> String {
        OptionFailure(error, of: ItemOptions.self, option: name, value: value).text(written)
    }
}
