import Foundation

/// Whether this process may open more files. Libraries that make an event queue end the process where it may not.
package enum FreeDescriptors {
    package static func has(_ count: Int) -> Bool { self.count(atMost: count) == count }

    /// Counts them by taking them for a moment: a limit does not say how many are in use.
    private static func count(atMost most: Int) -> Int {
        var taken: [Int32] = []
        defer { for descriptor in taken { close(descriptor) } }
        while taken.count < most {
            let descriptor = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
            guard descriptor >= 0 else { break }
            taken.append(descriptor)
        }
        return taken.count
    }

    /// Returns how many downloads may run at once: at least 1, and any number where there are many descriptors. With all
    /// descriptors taken libdispatch would end the process: it opens a file each second while threads are busy.
    static func downloads() -> Int {
        var limit = rlimit()
        guard getrlimit(Int32(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur < plenty else { return .max }
        return max(1, (count(atMost: Int(limit.rlim_cur)) - ofSession) / ofDownload)
    }

    private static let plenty: UInt64 = 1024
    /// Engines, the server of the session, timers, more connections to a host.
    private static let ofSession = 20
    /// The connection, the file, its folder, and whoever reads it.
    private static let ofDownload = 4
}
