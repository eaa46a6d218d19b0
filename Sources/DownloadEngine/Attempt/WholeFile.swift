import DownloadCore
import DownloadSystem

/// A file that has all its bytes but not its final name: a partial file, or a file without any name.
package protocol WholeFile: Sendable {
    var device: UInt64 { get }
    var folderKey: FolderKey { get }

    /// Waits until the file's bytes survive a loss of power.
    func sync() throws(DownloadError)
    /// Waits until everything on the file's file system survives a loss of power.
    func syncFileSystem() throws(DownloadError)
    /// Records that a sync of the file system failed, so that bytes of the file may be lost.
    func forgetUnsynced(_ error: DownloadError)
    /// Gives the file its final name. This method or ``syncFolder()`` checks that the path leads to the file. Throws
    /// `.exists` if the name is taken and the rule neither replaces the existing file nor allows another name.
    /// - Returns: The name that the file got.
    func takeName(_ rule: NameRule) throws(DownloadError) -> String
    /// Waits until the names in the file's folder survive a loss of power.
    func syncFolder() throws(DownloadError)
    func status() throws(DownloadError) -> FileStatus.Info
}

/// The key of an open folder. Files with equal keys share one sync of the folder.
package struct FolderKey: Hashable, Sendable {
    let path: String
    /// The descriptor of the open folder, which distinguishes two folders that had the same path at different times.
    /// Nil if each file's name was already checked to be in place.
    var descriptor: Int32?
}

/// The rule for a final name that is already taken.
package struct NameRule: Sendable {
    let name: String
    var replaces = false
    /// Whether another name is chosen, such as `NAME (1)`.
    var renames = false
}
