import CSystem
import DownloadCore
import DownloadSystem
import Foundation
import Synchronization

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
    package static func adopt(
        folder: String, name: String, _ identity: FileIdentity, followsLinks: Bool
    ) throws(DownloadError) -> PartialFile {
        let path = FileNaming.path(folder, FileNaming.partial(name))
        let folderDescriptor = try FileStatus.openFolder(folder, followsLinks: followsLinks)
        defer { Glibc.close(folderDescriptor) }
        guard dlm_rename_no_replace(folderDescriptor, name, FileNaming.partial(name)) == 0 else {
            throw errno == EEXIST ? .fileFailed(.partialExists, path: path) : .file(errno, "rename", path: path)
        }
        do throws(DownloadError) {
            let file = try open(folder: folder, name: name, mode: .reopen, followsLinks: followsLinks)
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

    /// Writes what is durable to the file itself, for the case that the store is lost.
    /// - Parameter version: ``version`` at the time when the described ranges were read.
    package func describe(_ description: PartialDescription?, version: Int) {
        guard let description else { return }
        description.write(to: descriptor)
        // Only now, so that the removal below, or one by another thread from now on, finds the description.
        mayBeDescribed.store(true, ordering: .sequentiallyConsistent)
        // Bytes that were given up meanwhile must not be believed.
        if self.version != version { forgetDescription() }
    }

    /// Removes the description of the file, because bytes in it were given up, or because the file is complete.
    /// - Parameter durably: Whether a loss of power must not bring the description back.
    func forgetDescription(durably: Bool = true) {
        guard mayBeDescribed.exchange(false, ordering: .sequentiallyConsistent) else { return }
        PartialDescription.remove(from: descriptor)
        if durably { fsync(descriptor) }
    }

    /// Syncs the folder, so that the rename survives a loss of power.
    package func syncFolder() throws(DownloadError) {
        guard fsync(folderDescriptor) == 0 else { throw .file(errno, "fsync", path: folder) }
    }

    /// Removes the partial file, if its name still leads to this file. Without the sync, a loss of power could bring the
    /// name back, and the file would belong to no download.
    package func remove() {
        guard isStillNamed() else { return }
        unlinkat(folderDescriptor, FileNaming.partial(name), 0)
        fsync(folderDescriptor)
    }

    package func isStillNamed() -> Bool { inodeAtName == identity.inode }

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
        forgetDescription(durably: false)
        if rule.replaces, FileNaming.isPartial(rule.name) {
            // Another download may have begun to write to a file of this name since the name was found free.
            let path = FileNaming.path(folder, rule.name)
            if PartialFile.isLocked(path) { throw .fileFailed(.locked, path: path) }
        }
        for count in 0...9999 {
            let candidate = FileNaming.alternative(rule.name, count)
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
