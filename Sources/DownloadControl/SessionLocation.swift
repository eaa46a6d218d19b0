import DownloadCore
import Glibc

/// Where a session listens: `<stateFolder>/sessions/<identifier>.sock`.
package struct SessionLocation: Sendable, Equatable {
    package let stateFolder: String
    package let identifier: String

    package init(stateFolder: String, identifier: String) {
        self.stateFolder = stateFolder
        self.identifier = identifier
    }

    /// For people and for error messages; a system call may need ``reach()``.
    package var socketPath: String { FileNaming.path(folder, socketName) }

    private var folder: String { FileNaming.path(stateFolder, "sessions") }
    private var socketName: String { identifier + ".sock" }

    /// What `sockaddr_un` holds besides its closing zero (unix(7)).
    static let longestPath = 107

    /// A path of the socket that fits into its address: through an open descriptor of the folder where the real one is
    /// too long.
    func reach() throws(DownloadError) -> SocketPath {
        guard !identifier.isEmpty, !identifier.hasPrefix("."),
            !identifier.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 == 0 })
        else { throw .unexpected("\(identifier): not usable as the name of a session") }
        if socketPath.utf8.count <= Self.longestPath { return SocketPath(text: socketPath, folder: nil) }
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { throw .sessionUnavailable(.notRunning(identifier)) }
            throw unusable(errno)
        }
        let short = SocketPath(text: "/proc/self/fd/\(descriptor)/\(socketName)", folder: descriptor)
        guard short.text.utf8.count <= Self.longestPath else {
            throw .unexpected("\(identifier): too long for the name of a session")
        }
        return short
    }

    func unusable(_ code: Int32, _ operation: String = "cannot use") -> DownloadError {
        .sessionUnavailable(
            .badExchange(identifier, message: "\(operation) \(socketPath): \(String(cString: strerror(code)))"))
    }
}

/// A path of a socket, valid as long as this lives.
final class SocketPath: Sendable {
    let text: String
    private let folder: Int32?

    fileprivate init(text: String, folder: Int32?) {
        self.text = text
        self.folder = folder
    }

    deinit {
        if let folder { close(folder) }
    }
}
