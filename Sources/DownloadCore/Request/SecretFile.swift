import Glibc

/// A reader for the files in which a request's secrets are.
enum SecretFile {
    /// The maximum size in bytes. A larger file is probably the wrong file.
    static let largest = 4 << 20

    static func read(_ path: String) throws(DownloadError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open", path) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 14)
        while bytes.count <= largest {
            let count = Glibc.read(descriptor, &piece, piece.count)
            if count == 0 { return bytes }
            if count < 0, errno == EINTR { continue }
            if count < 0 { throw failure("read", path) }
            bytes += piece[..<count]
        }
        throw .fileFailed(.system(operation: "read", errno: EFBIG), path: path)
    }

    private static func failure(_ operation: String, _ path: String) -> DownloadError {
        errno == EACCES
            ? .fileFailed(.permissionDenied, path: path)
            : .fileFailed(.system(operation: operation, errno: errno), path: path)
    }
}
