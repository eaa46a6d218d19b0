import CSystem
import Foundation

/// The end of a partial file: the rename to its final name, or its removal.
extension PartialFile {
    /// Truncates the file to `total` bytes. An earlier, larger version or a reservation may have left bytes after the
    /// end.
    package func cut(to total: Int64) throws(DownloadError) {
        guard try length() > total else { return }
        guard ftruncate(descriptor, off_t(total)) == 0 else { throw .file(errno, "truncate", path: path) }
    }

    /// Renames the file with the final name to its partial name and opens it. Throws `.replaced` if the file does not
    /// have the given identity. After an error, the file has its final name again.
    package static func adopt(folder: String, name: String, _ identity: FileIdentity) throws(DownloadError)
        -> PartialFile
    {
        let path = FileNaming.path(folder, FileNaming.partial(name))
        let folderDescriptor = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folderDescriptor >= 0 else { throw .file(errno, "open", path: folder) }
        defer { Glibc.close(folderDescriptor) }
        guard dlm_rename_no_replace(folderDescriptor, name, FileNaming.partial(name)) == 0 else {
            throw errno == EEXIST ? .fileFailed(.partialExists, path: path) : .file(errno, "rename", path: path)
        }
        do throws(DownloadError) {
            let file = try open(folder: folder, name: name, mode: .reopen)
            guard file.identity.isSame(as: identity) else { throw .fileFailed(.replaced, path: path) }
            try file.syncFolder()
            return file
        } catch {
            // If another process has locked the file, it writes to it under the partial name.
            if error != .fileFailed(.locked, path: path) {
                _ = dlm_rename_no_replace(folderDescriptor, FileNaming.partial(name), name)
            }
            throw error
        }
    }

    /// Sets the times of the file. Failure is ignored: some file systems have no times, and the file is whole without
    /// them.
    package func date(_ time: Date) {
        let stamp = timespec(tv_sec: Int(time.timeIntervalSince1970), tv_nsec: 0)
        _ = futimens(descriptor, [stamp, stamp])
    }

    /// Gives the file its final name. Without `replacing`, throws `.exists` if the name is taken.
    package func rename(to finalName: String, replacing: Bool) throws(DownloadError) {
        let partial = FileNaming.partial(name)
        let path = FileNaming.path(folder, finalName)
        if replacing, let existing = FileStatus.of(path), !existing.isRegular {
            throw .fileFailed(.notReplaceable, path: path)
        }
        let result =
            replacing
            ? renameat(folderDescriptor, partial, folderDescriptor, finalName)
            : dlm_rename_no_replace(folderDescriptor, partial, finalName)
        let code = errno
        // Where the file system lacks RENAME_NOREPLACE, the name is given by link and unlink. An earlier attempt that
        // was killed between the two leaves the file with both names.
        if replacing || code == EEXIST, FileStatus.of(path)?.identity.isSame(as: identity) == true, isStillNamed() {
            guard unlinkat(folderDescriptor, partial, 0) == 0 else { throw .file(errno, "unlink", path: self.path) }
        } else if result != 0 {
            throw .file(code, "rename", path: path)
        }
    }

    /// Syncs the folder, so that the rename survives a loss of power.
    package func syncFolder() throws(DownloadError) {
        guard fsync(folderDescriptor) == 0 else { throw .file(errno, "fsync", path: folder) }
    }

    /// Removes the partial file, if its name still leads to this file.
    package func remove() {
        guard isStillNamed() else { return }
        unlinkat(folderDescriptor, FileNaming.partial(name), 0)
    }

    /// Returns whether the partial name still leads to this file.
    package func isStillNamed() -> Bool { inodeAtName == identity.inode }

    /// The inode of the file with the partial name, or nil if there is none.
    private var inodeAtName: UInt64? {
        var info = stat()
        let result = fstatat(folderDescriptor, FileNaming.partial(name), &info, AT_SYMLINK_NOFOLLOW)
        return result == 0 ? UInt64(info.st_ino) : nil
    }

    /// Throws an error if the partial name or the folder's path no longer leads to this file or its folder.
    package func requireInPlace() throws(DownloadError) {
        guard let inode = inodeAtName else { throw .fileFailed(.deleted, path: path) }
        guard inode == identity.inode else { throw .fileFailed(.replaced, path: path) }
        try requireFolderInPlace()
    }

    /// Throws `.folderMoved` if the folder's path no longer leads to the open folder.
    package func requireFolderInPlace() throws(DownloadError) {
        guard FileStatus.leads(folder, to: folderDescriptor) else { throw .fileFailed(.folderMoved, path: folder) }
    }

    /// Throws `.altered` if another program has written to the file.
    package func requireUnwritten() throws(DownloadError) {
        if isWrittenByOthers { throw .fileFailed(.altered, path: path) }
    }
}

extension PartialFile: WholeFile {
    package var folderKey: FolderKey { FolderKey(path: folder) }

    package func takeName(_ rule: NameRule) throws(DownloadError) -> String {
        try requireInPlace()
        if rule.replaces, FileNaming.isPartial(rule.name) {
            // Another download may have begun to write to a file of this name since the name was found free.
            let path = FileNaming.path(folder, rule.name)
            if PartialFile.isLocked(path) { throw .fileFailed(.locked, path: path) }
        }
        for count in 0...9999 {
            let candidate = count == 0 ? rule.name : FileNaming.alternative(rule.name, count)
            do throws(DownloadError) {
                try requireUnwritten()
                try rename(to: candidate, replacing: rule.replaces)
                try requireFolderInPlace()
                return candidate
            } catch .fileFailed(.exists, let path) {
                guard rule.renames else { throw .fileFailed(.exists, path: path) }
            }
        }
        throw .fileFailed(.exists, path: FileNaming.path(folder, rule.name))
    }

    package func status() throws(DownloadError) -> FileStatus.Info {
        guard let status = FileStatus.of(descriptor: descriptor) else { throw .file(errno, "stat", path: path) }
        return status
    }
}

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

    static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Returns true for a regular file, and for a link to one.
    static func isFile(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// Reads a range of a file's bytes. Returns fewer bytes where the file ends.
    static func read(_ path: String, _ range: Range<Int64>) throws(DownloadError) -> [UInt8] {
        let descriptor = Glibc.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw .file(errno, "open", path: path) }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: range.count)
        var done = 0
        while done < bytes.count {
            let count = bytes[done...].withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress, $0.count, off_t(range.lowerBound) + done)
            }
            if count < 0, errno == EINTR { continue }
            if count < 0 { throw .file(errno, "read", path: path) }
            if count == 0 { break }
            done += count
        }
        return Array(bytes.prefix(done))
    }

    /// Returns the status of the open file, or nil, with `errno` set, if it cannot be read.
    static func of(descriptor: Int32) -> Info? {
        var status = dlm_status()
        return dlm_file_status(descriptor, "", &status) == 0 ? Info(status) : nil
    }

    /// Returns whether the path leads to the open folder.
    static func leads(_ path: String, to descriptor: Int32) -> Bool {
        var held = stat()
        var named = stat()
        return fstat(descriptor, &held) == 0 && stat(path, &named) == 0 && held.st_ino == named.st_ino
            && held.st_dev == named.st_dev
    }

    /// Syncs the folder, so that the names in it survive a loss of power.
    package static func syncFolder(_ path: String) throws(DownloadError) {
        let descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .file(errno, "open", path: path) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .file(errno, "fsync", path: path) }
    }

    /// Makes the folder and its missing parents, and syncs their names, so that they survive a loss of power.
    package static func makeFolder(_ path: String) throws(DownloadError) {
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

    /// Syncs the parent of a new folder, so that the name survives a loss of power. Does nothing if the parent cannot
    /// be read.
    static func syncParent(of path: String) {
        let parent = (path as NSString).deletingLastPathComponent
        do throws(DownloadError) { try syncFolder(parent.isEmpty ? "." : parent) } catch {
            // A parent that may be entered but not read cannot be synced. The new folder exists all the same.
        }
    }

    private static func requireFolder(_ path: String) throws(DownloadError) {
        var info = stat()
        guard stat(path, &info) == 0 else { throw .file(errno, "stat", path: path) }
        guard info.st_mode & S_IFMT == S_IFDIR else { throw .file(ENOTDIR, "mkdir", path: path) }
    }

    /// The kernel's identifier of the current boot, or nil if it cannot be read.
    package static let bootID: String? =
        (try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8))?
        .trimmingCharacters(in: .whitespacesAndNewlines)
}
