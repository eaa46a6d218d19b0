import Foundation

/// Finds out whether this process may open more files. Some libraries end the process if they cannot open a descriptor
/// for their event queue.
package enum FreeDescriptors {
    /// Raises the limit of descriptors as far as the kernel allows without privileges, because every connection needs a
    /// socket and every file a descriptor.
    package static func raiseLimit() {
        var limit = rlimit()
        guard getrlimit(Int32(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
        limit.rlim_cur = limit.rlim_max
        setrlimit(Int32(RLIMIT_NOFILE.rawValue), &limit)
    }

    package static func has(_ count: Int) -> Bool { self.count(atMost: count) == count }

    /// Counts the free descriptors, up to `most`. This method opens descriptors for a moment, because the limit of the
    /// process does not show how many are in use.
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

    /// Returns how many downloads may run at once: at least 1, and any number if the limit of descriptors is 1,024 or
    /// more.
    package static func downloads() -> Int {
        guard let limit, limit < plenty else { return .max }
        let ofClients = 2 * connections(within: limit)
        return max(1, (count(atMost: limit) - ofSession - ofClients - limit / shareOfIdle) / ofDownload)
    }

    /// Returns how many connections each of the two servers may accept, for the control API and for the network. The
    /// servers accept fewer if few files may be open, because clients could otherwise take all descriptors. Then
    /// downloads could not connect.
    package static func connections(within limit: Int = limit ?? .max) -> Int {
        min(64, max(4, limit / shareOfServer))
    }

    /// Returns how many connections each of four handles of libcurl may keep. More than 256 are not useful.
    package static func idleConnections() -> Int { min(256, (limit ?? .max) / shareOfIdle / 4) }

    /// The lowest descriptor that no connection to a server may have. The kernel gives the lowest free number
    /// (open(2)), so the numbers from this one on stay free for files, lookups of names, clients, and for libdispatch:
    /// it opens a file each second while threads are busy, and ends the process if it cannot.
    package static func firstReserved(within limit: Int = limit ?? .max) -> Int { limit - min(64, max(3, limit / 8)) }

    /// Returns whether `count` more descriptors leave half of the reserve free. Clients may use the other half, so that
    /// a download with many connections does not keep them out.
    package static func hasRoom(for count: Int) -> Bool { next <= lastFor(count, within: limit ?? .max) }

    /// Whether a connection to a server would have a reserved descriptor.
    package static var isScarce: Bool { next >= firstReserved() }

    /// The number that the next descriptor will have; `Int.max` if there is none, and 0 if standard input is closed.
    private static var next: Int {
        let next = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
        guard next >= 0 else { return errno == EMFILE ? .max : 0 }
        close(next)
        return Int(next)
    }

    /// The highest number of the next descriptor with which there is room for `count`.
    static func lastFor(_ count: Int, within limit: Int) -> Int {
        limit - (limit - firstReserved(within: limit)) / 2 - count
    }

    /// The limit of descriptors of this process; nil if there is none.
    private static var limit: Int? {
        var limit = rlimit()
        guard getrlimit(Int32(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
        return Int(exactly: limit.rlim_cur)
    }

    private static let plenty = 1024
    /// The idle connections to all hosts may use one of this many descriptors.
    private static let shareOfIdle = 4
    /// The connections that one server accepts may use one of this many descriptors.
    private static let shareOfServer = 8
    /// The descriptors of the session: engines, listeners, timers, and additional connections to a host.
    private static let ofSession = 20
    /// The descriptors of a download: the connection, the file, its folder, and one for reading the file.
    private static let ofDownload = 4
}
