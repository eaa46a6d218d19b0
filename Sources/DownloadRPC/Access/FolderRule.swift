import CSystem
import DownloadControl
import DownloadCore
import DownloadSystem
import Foundation
import Glibc

/// The rule for the folders of downloads that network clients add. A file may be saved only in a permitted folder or in
/// its subfolders, even if the path contains symbolic links. Hidden subfolders and dlm's own folders are never
/// permitted.
struct FolderRule: Sendable {
    /// The permitted folders, as absolute paths. The first folder is used for downloads that name no folder.
    let roots: [String]
    let protected: [String]

    init(_ configuration: RPCConfiguration) {
        roots = configuration.folders
        protected = configuration.protectedFolders + [configuration.stateFolder]
    }

    var standard: String { roots.first ?? "/nonexistent" }

    private static let longest = 4096

    /// Returns the folder with all symbolic links resolved. Parts of the path that do not exist yet are not changed.
    /// - Throws: ``WireProblem`` if the folder is not permitted.
    func resolve(_ folder: String) throws(WireProblem) -> String {
        guard folder.hasPrefix("/"), folder.utf8.count <= Self.longest,
            folder.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        else { throw WireProblem("folder: give an absolute path without control characters") }
        let parts = folder.split(separator: "/").map(String.init).filter { $0 != "." }
        guard !parts.contains("..") else { throw WireProblem("folder: '..' is not permitted") }
        var places: [(root: String, rest: [String])] = []
        for root in roots {
            for base in Set([root, Self.real(root) ?? root]) {
                let start = base.split(separator: "/").map(String.init)
                if parts.starts(with: start) { places.append((root, Array(parts.dropFirst(start.count)))) }
            }
        }
        // If one permitted folder is inside another, the inner folder is used. A hidden folder that the user has
        // permitted would be refused as a subfolder of the outer one.
        if let place = places.min(by: { $0.rest.count < $1.rest.count }) {
            return try resolve(place.rest, below: place.root)
        }
        throw WireProblem(
            "folder: \(folder) is not below a folder that rpc-folders permits (\(roots.joined(separator: ", ")))")
    }

    private func resolve(_ parts: [String], below root: String) throws(WireProblem) -> String {
        try refuseHidden(parts)
        let top = dlm_open_folder(root)
        guard top >= 0 else {
            // The permitted folder does not exist yet, so no symbolic link can lead out of it.
            if errno == ENOENT { return try checked(parts.reduce(try Self.realAsFarAsItExists(root), FileNaming.path)) }
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
            let prefix = realRoot == "/" ? "/" : realRoot + "/"
            guard let real = Self.path(of: descriptor), real == realRoot || real.hasPrefix(prefix) else {
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

    /// Returns whether a file may be deleted over the network: only a file in a permitted folder.
    func permitsDeletion(of path: String) -> Bool {
        let folder = (path as NSString).deletingLastPathComponent
        return (try? resolve(folder)) != nil
    }

    /// Splits a relative path such as `a/b/name`, which aria2's option `out` allows, into folders and a name.
    /// - Throws: ``WireProblem`` for a path that leads out of the folder of the download, has hidden parts, has more
    ///   than 16 parts, or has parts that ``FileNaming`` would change.
    static func name(_ text: String) throws(WireProblem) -> (folders: [String], name: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard let name = parts.last, parts.count <= 16, parts.allSatisfy({ FileNaming.sanitized($0) == $0 }) else {
            throw WireProblem("name: '\(text.prefix(100))' is not a plain name below the folder")
        }
        return (Array(parts.dropLast()), name)
    }

    /// Resolves the symbolic links in the part of the path that exists.
    private static func realAsFarAsItExists(_ path: String) throws(WireProblem) -> String {
        if let real = real(path) { return real }
        guard FileStatus.of(path) == nil else {
            throw WireProblem("folder: \(path) is a link to a folder that does not exist")
        }
        let (parent, name) = ((path as NSString).deletingLastPathComponent, (path as NSString).lastPathComponent)
        return parent == path ? path : FileNaming.path(try realAsFarAsItExists(parent), name)
    }

    private static func real(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Returns the real path of an open folder.
    private static func path(of descriptor: Int32) -> String? { real("/proc/self/fd/\(descriptor)") }
}
