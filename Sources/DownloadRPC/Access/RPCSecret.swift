import DownloadCore
import DownloadSystem
import Foundation
import Glibc

/// The secret of the server: 128 random bits in hexadecimal digits, in a file that only its owner may read. The server
/// always has a secret.
package struct RPCSecret: Sendable {
    package let text: String

    /// The size of the random number in bytes.
    private static let size = 16
    private static let name = "rpc-secret"

    package static func path(in stateFolder: String) -> String { FileNaming.path(stateFolder, name) }

    /// Reads the secret from its file, or creates the file with a new secret.
    /// - Throws: ``DownloadError`` if the file cannot be used. A file that other users can read is refused, because
    ///   they may know the secret.
    package static func load(from stateFolder: String) throws(DownloadError) -> RPCSecret {
        try PrivateFolder.make(stateFolder)
        let path = path(in: stateFolder)
        if let secret = try read(path) { return secret }
        try make(path)
        guard let secret = try read(path) else { throw unusable(path, String(cString: strerror(ENOENT))) }
        return secret
    }

    private static func read(_ path: String) throws(DownloadError) -> RPCSecret? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        if descriptor < 0 {
            if errno == ENOENT { return nil }
            throw unusable(path, String(cString: strerror(errno)))
        }
        defer { close(descriptor) }
        var information = stat()
        guard fstat(descriptor, &information) == 0, information.st_mode & S_IFMT == S_IFREG else {
            throw unusable(path, "not a file")
        }
        guard information.st_uid == geteuid(), information.st_mode & 0o077 == 0 else {
            throw unusable(path, "other users may read it; delete it, and a new secret is created")
        }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        // The user may have written another secret into the file, so the length is checked.
        guard text.utf8.count >= Self.size, count < bytes.count, text.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else {
            throw unusable(path, "write one line of at least 16 ASCII characters into it, or delete it")
        }
        return RPCSecret(text: text)
    }

    /// Creates the file of the secret. The file is first written under another name, so that it never exists without
    /// its content.
    private static func make(_ path: String) throws(DownloadError) {
        let random = (0..<size).map { _ in UInt8.random(in: 0...255) }.hexadecimal
        let draft = "\(path).\(getpid())"
        defer { unlink(draft) }
        // If another process has created the file in the meantime, the secret of that process is used.
        let isMade = FileBytes.make(draft, with: "\(random)\n", durably: true) {
            link(draft, path) == 0 || errno == EEXIST
        }
        if !isMade { throw unusable(path, String(cString: strerror(errno))) }
    }

    private static func unusable(_ path: String, _ why: String) -> DownloadError {
        .requestInvalid(.unusableSecret("\(path): \(why)"))
    }

    /// The token that permits only reading the metrics. It is a digest, from which nobody can compute the secret. Nil if
    /// OpenSSL cannot compute the digest; then only the secret permits reading the metrics.
    package var metricsToken: String? {
        (try? TextDigest("dlm metrics \(text)"))?.bytes.prefix(16).hexadecimal
    }

    /// Compares a text with the secret. The duration does not depend on the first byte that differs, so it gives no
    /// hint to somebody who guesses.
    func matches(_ other: String) -> Bool {
        let (mine, given) = (Array(text.utf8), Array(other.utf8))
        var difference = UInt8(mine.count == given.count ? 0 : 1)
        for index in mine.indices { difference |= mine[index] ^ (index < given.count ? given[index] : 0) }
        return difference == 0
    }
}

/// Descriptions without the secret, so that it is never printed by accident.
extension RPCSecret: CustomStringConvertible, CustomReflectable {
    package var description: String { "(hidden)" }
    package var customMirror: Mirror { Mirror(self, children: ["secret": description]) }
}
