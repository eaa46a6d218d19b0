import DownloadCore
import Glibc

/// The location of a session's socket: `<stateFolder>/sessions/<identifier>.sock`.
package struct SessionLocation: Sendable, Equatable {
    package let stateFolder: String
    package let identifier: String

    package init(stateFolder: String, identifier: String) {
        self.stateFolder = stateFolder
        self.identifier = identifier
    }

    /// The path of the socket, for users and error messages. A system call may need the path from ``reach()``.
    package var socketPath: String { FileNaming.path(folder, socketName) }

    private var folder: String { FileNaming.path(stateFolder, "sessions") }
    private var socketName: String { identifier + ".sock" }

    /// The most bytes of a path in `sockaddr_un`, without the closing zero (unix(7)).
    package static let longestPath = 107

    /// Returns a path of the socket that fits into a socket address. If the real path is too long, the path goes
    /// through an open descriptor of the folder.
    package func reach() throws(DownloadError) -> SocketPath {
        guard !identifier.isEmpty, !identifier.hasPrefix("."),
            !identifier.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 == 0 })
        else { throw .unexpected("\(identifier): cannot be used as the name of a session") }
        if socketPath.utf8.count <= Self.longestPath { return SocketPath(text: socketPath, folder: nil) }
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if [ENOENT, ENOTDIR].contains(errno) { throw .sessionUnavailable(.notRunning(identifier)) }
            throw unusable(errno)
        }
        let short = SocketPath(text: "/proc/self/fd/\(descriptor)/\(socketName)", folder: descriptor)
        guard short.text.utf8.count <= Self.longestPath else {
            throw .unexpected("\(identifier): too long for the name of a session")
        }
        return short
    }

    package func unusable(_ code: Int32, _ operation: String = "cannot use") -> DownloadError {
        .sessionUnavailable(
            .badExchange(identifier, message: "\(operation) \(socketPath): \(String(cString: strerror(code)))"))
    }
}

/// A path of a socket, valid as long as this object exists.
package final class SocketPath: Sendable {
    package let text: String
    private let folder: Int32?

    fileprivate init(text: String, folder: Int32?) {
        self.text = text
        self.folder = folder
    }

    deinit {
        if let folder { close(folder) }
    }
}
