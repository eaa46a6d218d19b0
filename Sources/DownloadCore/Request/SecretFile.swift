import Glibc

/// A reader for the files in which a request's secrets are.
enum SecretFile {
    /// The maximum size in bytes. A larger file is probably the wrong file.
    static let largest = 4 << 20

    static func read(_ path: String) throws(DownloadError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .givenFile(errno, "open", path) }
        defer { close(descriptor) }
        guard let bytes = FileBytes.read(descriptor, atMost: largest) else { throw .givenFile(errno, "read", path) }
        if bytes.count > largest { throw .givenFile(EFBIG, "read", path) }
        return bytes
    }
}
