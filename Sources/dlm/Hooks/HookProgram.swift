import ArgumentParser
import DownloadKit
import Foundation
import Glibc

/// The program of a hook, looked up when the user enters the command, so that a mistyped name is reported at once.
enum HookProgram {
    /// Returns the absolute path of the program that an option names. Throws a usage error that names the option.
    static func path(of word: String, option: String, in workingFolder: String?) throws -> String {
        do {
            let folders = ProcessInfo.processInfo.environment.programFolders
            return try path(of: word, folders: folders, workingFolder: workingFolder)
        } catch let error as ValidationError {
            throw ValidationError("\(option) \(word): \(error.message)")
        }
    }

    /// - Parameter word: A path if it contains a slash, otherwise a name that is looked up in `folders`.
    static func path(of word: String, folders: [String], workingFolder: String?) throws -> String {
        if word.isEmpty { throw ValidationError("give a program") }
        if word.utf8.contains(UInt8(ascii: "/")) {
            guard let workingFolder = word.hasPrefix("/") ? "/" : workingFolder else {
                throw ValidationError("the working folder is gone; give an absolute path")
            }
            // If the path is a symbolic link to the program, the link is not resolved, because some programs depend on
            // the name by which they are called.
            let (folder, name) = parts(FolderPath.joined(workingFolder, word))
            let path = FileNaming.path(FolderPath.canonical(folder), name)
            if let fault = fault(of: path) { throw ValidationError("\(fault); give the path of a program") }
            return path
        }
        let places = folders.lazy.map { FolderPath.joined($0, word) }
        guard let found = places.first(where: { fault(of: $0) == nil }) else {
            let hint = word.contains(where: \.isWhitespace) ? "; a hook cannot have arguments; write a script" : ""
            throw ValidationError("no program of this name in PATH\(hint)")
        }
        return found
    }

    private static func parts(_ path: String) -> (folder: String, name: String) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return ("/", path) }
        return (String(path[..<slash]), String(path[path.utf8.index(after: slash)...]))
    }

    private static func fault(of path: String) -> String? {
        var information = stat()
        guard stat(path, &information) == 0 else { return String(cString: strerror(errno)) }
        guard information.st_mode & S_IFMT == S_IFREG else { return "is not a program" }
        return access(path, X_OK) == 0 ? nil : "is not executable (chmod +x)"
    }
}
