import Foundation
import Glibc

/// The one spelling of the path of each folder. Two processes that name the same folder differently must get the same
/// download.
enum FolderPath {
    /// The working folder; nil if it was deleted, or if its name is not UTF-8 and cannot be written as a `String`.
    static var working: String? {
        guard let path = getcwd(nil, 0) else { return nil }
        defer { free(path) }
        return String(validatingCString: path)
    }

    /// Returns the absolute path of a file that an option names.
    static func file(_ path: String) -> String { joined(working ?? "", path) }

    static func joined(_ folder: String, _ path: String) -> String {
        path.hasPrefix("/") ? path : "\(folder)/\(path)"
    }

    /// Returns the absolute path without symbolic links, `.` and `..`, as far as the folders exist (realpath(3)).
    static func canonical(_ path: String) -> String {
        var missing: [String] = []
        // Joining substrings would take 400,000 instructions more (callgrind).
        var existing = path.split(separator: "/").map(String.init).filter { $0 != "." }
        while true {
            let candidate = "/" + existing.joined(separator: "/")
            if let resolved = realpath(candidate, nil) {
                defer { free(resolved) }
                // If a symbolic link leads to a name that is not UTF-8, the path of the link itself is used.
                return append(missing, to: String(validatingCString: resolved) ?? candidate)
            }
            guard let last = existing.popLast() else { return append(missing, to: "/") }
            missing.insert(last, at: 0)
        }
    }

    private static func append(_ parts: [String], to folder: String) -> String {
        parts.isEmpty ? folder : (folder == "/" ? "" : folder) + "/" + parts.joined(separator: "/")
    }
}
