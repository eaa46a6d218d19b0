/// A file with all its bytes that has no final name yet: a partial file, or one without any name.
package protocol WholeFile: Sendable {
    var device: UInt64 { get }
    var folderKey: FolderKey { get }

    /// Waits until its bytes survive a loss of power.
    func sync() throws(DownloadError)
    /// The same for everything on its file system.
    func syncFileSystem() throws(DownloadError)
    /// Gives the file its final name, and checks that its path leads to it.
    /// - Returns: the name. A name that is taken fails with `.exists`, where the rule does not help.
    func takeName(_ rule: NameRule) throws(DownloadError) -> String
    /// Waits until the names in its folder survive a loss of power.
    func syncFolder() throws(DownloadError)
    /// The open file as it is now.
    func status() throws(DownloadError) -> FileStatus.Info
}

/// A folder that is held open: two files with the same key share the sync of their names.
package struct FolderKey: Hashable, Sendable {
    let path: String
    /// Tells folders apart that had the same path one after the other; nil where each name was checked to be in place.
    var descriptor: Int32?
}

/// How a final name that is taken is dealt with.
package struct NameRule: Sendable {
    let name: String
    /// The file that has the name is replaced.
    var replaces = false
    /// Another name is taken: `NAME (1)`.
    var renames = false
}
