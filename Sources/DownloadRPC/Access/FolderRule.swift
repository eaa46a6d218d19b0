import CSystem
import DownloadControl
import DownloadCore
import Foundation
import Glibc

/// Where downloads that come over the network may be put: in the permitted folders and below them, wherever symbolic links
/// lead, and never in a hidden folder or one of dlm's own.
struct FolderRule: Sendable {
    /// Absolute; the first one is for downloads that name none.
    let roots: [String]
    let protected: [String]

    init(_ configuration: RPCConfiguration) {
        roots = configuration.folders
        protected = configuration.protectedFolders + [configuration.stateFolder]
    }

    var standard: String { roots.first ?? "/nonexistent" }

    private static let longest = 4096

    /// Returns the folder with all symbolic links resolved; what does not exist yet is left as it is named.
    /// - Throws: ``WireProblem`` when it is not permitted.
    func resolve(_ folder: String) throws(WireProblem) -> String {
        guard folder.hasPrefix("/"), folder.utf8.count <= Self.longest,
            folder.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        else { throw WireProblem("folder: give an absolute path without control characters") }
        let parts = folder.split(separator: "/").map(String.init).filter { $0 != "." }
        guard !parts.contains("..") else { throw WireProblem("folder: '..' is not permitted") }
        for root in roots {
            for base in Set([root, Self.real(root) ?? root]) {
                let start = base.split(separator: "/").map(String.init)
                guard parts.starts(with: start) else { continue }
                return try resolve(Array(parts.dropFirst(start.count)), below: root)
            }
        }
        throw WireProblem(
            "folder: \(folder) is not below a folder that rpc-folders permits (\(roots.joined(separator: ", ")))")
    }

    private func resolve(_ parts: [String], below root: String) throws(WireProblem) -> String {
        try refuseHidden(parts)
        let top = dlm_open_folder(root)
        guard top >= 0 else {
            // Nothing is there that a link could lead away from.
            if errno == ENOENT { return try checked(parts.reduce(root, FileNaming.path)) }
            throw WireProblem("folder: \(root): \(String(cString: strerror(errno)))")
        }
        defer { close(top) }
        guard let realRoot = Self.path(of: top) else { throw WireProblem("folder: \(root): cannot be resolved") }
        for count in stride(from: parts.count, through: 0, by: -1) {
            let existing = count == 0 ? "." : parts[..<count].joined(separator: "/")
            let descriptor = dlm_open_folder_beneath(top, existing)
            if descriptor < 0, errno == ENOENT { continue }
            guard descriptor >= 0 else {
                throw WireProblem(
                    "folder: \(FileNaming.path(root, existing)): it leads out of \(root), or is not a folder")
            }
            defer { close(descriptor) }
            guard let real = Self.path(of: descriptor), real == realRoot || real.hasPrefix(realRoot + "/") else {
                throw WireProblem("folder: \(FileNaming.path(root, existing)): it leads out of \(root)")
            }
            try refuseHidden(real.dropFirst(realRoot.count).split(separator: "/").map(String.init))
            return try checked(parts[count...].reduce(real, FileNaming.path))
        }
        throw WireProblem("folder: \(root): it was removed")
    }

    private func refuseHidden(_ parts: [String]) throws(WireProblem) {
        guard let hidden = parts.first(where: { $0.hasPrefix(".") || $0.utf8.count > 255 }) else { return }
        throw WireProblem("folder: \(hidden) is hidden or too long; nothing is saved there over the network")
    }

    private func checked(_ path: String) throws(WireProblem) -> String {
        for folder in protected {
            for base in [folder, Self.real(folder) ?? folder] where path == base || path.hasPrefix(base + "/") {
                throw WireProblem("folder: \(base) is used by this program; nothing is saved there over the network")
            }
        }
        return path
    }

    /// Whether a file lies in a permitted folder: only such a file is deleted over the network.
    func permitsDeletion(of path: String) -> Bool {
        let folder = (path as NSString).deletingLastPathComponent
        return (try? resolve(folder)) != nil
    }

    /// One safe name, perhaps behind folders (`a/b/name`), as aria2's option `out` has it.
    /// - Throws: ``WireProblem`` for a name that would lie elsewhere, be hidden, or show as another.
    static func name(_ text: String) throws(WireProblem) -> (folders: [String], name: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard let name = parts.last, parts.count <= 16, parts.allSatisfy({ FileNaming.sanitized($0) == $0 }) else {
            throw WireProblem("name: '\(text.prefix(100))' is not a plain name below the folder")
        }
        return (Array(parts.dropLast()), name)
    }

    private static func real(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Of an open folder.
    private static func path(of descriptor: Int32) -> String? { real("/proc/self/fd/\(descriptor)") }
}
