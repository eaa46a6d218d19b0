import CSystem
import DownloadCore
import Foundation

/// Functions that examine files by their names.
package enum FileStatus {
    package struct Info: Sendable, Equatable {
        package let identity: FileIdentity
        package let device: UInt64
        package let size: Int64
        /// The time of the last change, in nanoseconds since 1970.
        package let modified: Int64
        package let isRegular: Bool

        init(_ status: dlm_status) {
            identity = FileIdentity(inode: status.inode, born: status.born == 0 ? nil : status.born)
            device = status.device
            size = status.size
            modified = status.modified
            isRegular = status.is_regular != 0
        }
    }

    /// Returns the status of the file with this path, or nil, with `errno` set, if it cannot be read. A symbolic link
    /// is not followed.
    package static func of(_ path: String) -> Info? {
        var status = dlm_status()
        return dlm_file_status(-1, path, &status) == 0 ? Info(status) : nil
    }

    /// Returns whether the error number means that there is no file with this path.
    package static func isAbsence(_ code: Int32) -> Bool { code == ENOENT || code == ENOTDIR }

    package static func isFolder(_ path: String) -> Bool { type(of: path) == S_IFDIR }

    /// Returns true for a regular file, and for a link to one.
    package static func isFile(_ path: String) -> Bool { type(of: path) == S_IFREG }

    /// Returns the type of the file to which the path leads (inode(7)), or nil, with `errno` set, if it cannot be read.
    private static func type(of path: String) -> mode_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
    }

    /// Opens a regular file for reading. Symbolic links are followed. A pipe or a device is refused before any byte of
    /// it is read, and opening it does not block.
    package static func openRegular(_ path: String) throws(DownloadError) -> (descriptor: Int32, status: Info) {
        let descriptor = Glibc.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .givenFile(errno, "open", path) }
        guard let status = of(descriptor: descriptor), status.isRegular else {
            close(descriptor)
            throw .fileFailed(.notRegular, path: path)
        }
        return (descriptor, status)
    }

    /// Reads a range of a file's bytes. Returns fewer bytes where the file ends.
    package static func read(_ path: String, _ range: Range<Int64>) throws(DownloadError) -> [UInt8] {
        let descriptor = Glibc.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw .file(errno, "open", path: path) }
        defer { close(descriptor) }
        guard let bytes = FileBytes.read(descriptor, range) else { throw .file(errno, "read", path: path) }
        return bytes
    }

    /// Returns the status of the open file, or nil, with `errno` set, if it cannot be read.
    package static func of(descriptor: Int32) -> Info? {
        var status = dlm_status()
        return dlm_file_status(descriptor, "", &status) == 0 ? Info(status) : nil
    }

    /// Returns whether both paths lead to the same file. Symbolic links are followed.
    package static func areSame(_ path: String, _ other: String) -> Bool {
        var held = stat()
        return stat(other, &held) == 0 && leads(path, to: held)
    }

    /// Returns whether the path leads to the open file or folder.
    package static func leads(_ path: String, to descriptor: Int32) -> Bool {
        var held = stat()
        return fstat(descriptor, &held) == 0 && leads(path, to: held)
    }

    private static func leads(_ path: String, to held: stat) -> Bool {
        var named = stat()
        return stat(path, &named) == 0 && held.st_ino == named.st_ino && held.st_dev == named.st_dev
    }

    /// Syncs the folder, so that the names in it survive a loss of power.
    package static func syncFolder(_ path: String) throws(DownloadError) {
        let descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .file(errno, "open", path: path) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .file(errno, "fsync", path: path) }
    }

    /// Opens a folder. Without `followsLinks`, no part of the path may be a symbolic link (openat2(2)).
    package static func openFolder(_ path: String, followsLinks: Bool) throws(DownloadError) -> Int32 {
        let descriptor =
            followsLinks
            ? Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : dlm_open_folder_without_links(path)
        if descriptor >= 0 { return descriptor }
        throw errno == ELOOP && !followsLinks ? .fileFailed(.folderMoved, path: path) : .file(errno, "open", path: path)
    }

    /// Makes the folder and its missing parents, and syncs their names, so that they survive a loss of power. Without
    /// `followsLinks`, no part of the path may be a symbolic link.
    package static func makeFolder(_ path: String, followsLinks: Bool) throws(DownloadError) {
        if followsLinks { try makeFolder(path) } else { close(try openMaking(path)) }
    }

    /// Opens a folder that is not reached through symbolic links, after it was made with its missing parents.
    private static func openMaking(_ path: String) throws(DownloadError) -> Int32 {
        do { return try openFolder(path, followsLinks: false) } catch .fileFailed(.folderMissing, _) {
            guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else {
                throw .file(ENOENT, "open", path: path)
            }
            let parent = try openMaking(String(path[..<slash]))
            defer { close(parent) }
            let isMade = mkdirat(parent, String(path[path.index(after: slash)...]), 0o777) == 0
            guard isMade || errno == EEXIST else { throw .file(errno, "mkdir", path: path) }
            if isMade, fsync(parent) != 0 { throw .file(errno, "fsync", path: path) }
            return try openFolder(path, followsLinks: false)
        }
    }

    private static func makeFolder(_ path: String) throws(DownloadError) {
        if make(path) || errno == EEXIST { return try requireFolder(path) }
        guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex else {
            throw .file(errno, "mkdir", path: path)
        }
        try makeFolder(String(path[..<slash]))
        guard make(path) || errno == EEXIST else { throw .file(errno, "mkdir", path: path) }
    }

    /// Makes the folder. Returns false, with `errno` set, if it cannot be made.
    private static func make(_ path: String) -> Bool {
        guard mkdir(path, 0o777) == 0 else { return false }
        syncParent(of: path)
        return true
    }

    /// Syncs the parent of a new folder, so that the name survives a loss of power. A parent that may be entered but
    /// not read cannot be synced. The new folder exists all the same.
    static func syncParent(of path: String) {
        let parent = (path as NSString).deletingLastPathComponent
        try? syncFolder(parent.isEmpty ? "." : parent)
    }

    private static func requireFolder(_ path: String) throws(DownloadError) {
        guard let type = type(of: path) else { throw .file(errno, "stat", path: path) }
        guard type == S_IFDIR else { throw .file(ENOTDIR, "mkdir", path: path) }
    }

    /// The kernel's identifier of the current boot, or nil if it cannot be read.
    package static let bootID: String? =
        (try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8))?
        .trimmingCharacters(in: .whitespacesAndNewlines)
}
