import Foundation
import Glibc

/// One spelling for one folder, so that two processes that mean the same destination ask for the same download.
enum FolderPath {
    /// The working folder; nil when it was deleted, or when its name is not UTF-8, so that no text can stand for it.
    static var working: String? {
        guard let path = getcwd(nil, 0) else { return nil }
        defer { free(path) }
        return String(validatingCString: path)
    }

    /// A file as an option names it, by its absolute path.
    static func file(_ path: String) -> String { joined(working ?? "", path) }

    /// `path` seen from `folder`.
    static func joined(_ folder: String, _ path: String) -> String {
        path.hasPrefix("/") ? path : "\(folder)/\(path)"
    }

    /// Absolute, without symbolic links, `.` and `..` as far as the folders exist (realpath(3)).
    static func canonical(_ path: String) -> String {
        var missing: [Substring] = []
        var existing = path.split(separator: "/").filter { $0 != "." }
        while true {
            let candidate = "/" + existing.joined(separator: "/")
            if let resolved = realpath(candidate, nil) {
                defer { free(resolved) }
                // A link may lead to a name that is no text; then the link is what can be named.
                return append(missing, to: String(validatingCString: resolved) ?? candidate)
            }
            guard let last = existing.popLast() else { return append(missing, to: "/") }
            missing.insert(last, at: 0)
        }
    }

    private static func append(_ parts: [Substring], to folder: String) -> String {
        parts.isEmpty ? folder : (folder == "/" ? "" : folder) + "/" + parts.joined(separator: "/")
    }
}
