import Foundation

/// The Unix sockets of this machine at which somebody listens, as the kernel lists them (proc_net(5)): unlike a
/// connection, the question wakes nobody.
enum ListeningSockets {
    private static let list = "/proc/net/unix"
    /// `__SO_ACCEPTCON`, in the column of the flags.
    private static let accepts = "00010000"

    /// Unlinks the socket that a dead session left, but none that a service manager holds open for the next one.
    static func removeIfSilent(_ path: String) {
        var information = stat()
        guard lstat(path, &information) == 0, information.st_mode & S_IFMT == S_IFSOCK, !contains(path) else { return }
        unlink(path)
    }

    /// True when it cannot be found out.
    private static func contains(_ path: String) -> Bool {
        guard let data = FileManager.default.contents(atPath: list) else { return true }
        let names = [path, resolved(path)]
        return String(decoding: data, as: UTF8.self).split(separator: "\n").contains { line in
            let columns = line.split(separator: " ", maxSplits: 7)
            return columns.count == 8 && columns[3] == accepts && names.contains(String(columns[7]))
        }
    }

    /// Without symbolic links in the folder's path.
    private static func resolved(_ path: String) -> String {
        URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    }
}
