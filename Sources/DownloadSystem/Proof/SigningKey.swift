import DownloadCore
import Foundation

/// The key of a publisher, which the user gives (``DownloadRequest/signedBy``).
package enum SigningKey: Sendable, Equatable {
    /// A keyring as gpgv reads it. If there is a fingerprint, no other key in the keyring counts.
    case openPGP(ring: [UInt8], fingerprint: String?)
    /// A key of minisign or signify, with its number of 8 bytes. Both programs use the same format, so the comment in
    /// the file decides. The text of a key is one of minisign.
    case ed25519(number: [UInt8], key: [UInt8], isMinisign: Bool)

    /// Decides by the content of a file which key it is.
    init?(_ bytes: [UInt8], fingerprint: String? = nil) {
        // A packet of OpenPGP begins with a byte that ASCII does not have (RFC 9580, section 4.2).
        let isKeybox = bytes.dropFirst(8).starts(with: "KBXf".utf8)
        if isKeybox || bytes.first ?? 0 >= 0x80 {
            self = .openPGP(ring: bytes, fingerprint: fingerprint)
        } else if let ring = Self.unarmoured(bytes) {
            self = .openPGP(ring: ring, fingerprint: fingerprint)
        } else if fingerprint == nil, bytes.count < 4096,
            case let lines = bytes.split(whereSeparator: { $0 == 10 || $0 == 13 }),
            let key = lines.compactMap({ Self.line($0, isMinisign: Self.isOfMinisign(lines[0])) }).first
        {
            self = key
        } else {
            return nil
        }
    }

    /// Whether the text is the key itself, and names no file.
    package static func isText(_ text: String) -> Bool { line(text.utf8) != nil }

    /// Whether the first line of a key file is one of minisign: its comment, or the key itself.
    private static func isOfMinisign(_ line: ArraySlice<UInt8>) -> Bool {
        !line.starts(with: "untrusted comment:".utf8) || String(decoding: line, as: UTF8.self).contains("minisign")
    }

    fileprivate static func line(_ text: some Collection<UInt8>, isMinisign: Bool = true) -> SigningKey? {
        guard text.count == 56, let bytes = Data(base64Encoded: Data(text)), bytes.count == 42,
            bytes.starts(with: "Ed".utf8)
        else { return nil }
        return .ed25519(number: Array(bytes[2..<10]), key: Array(bytes[10...]), isMinisign: isMinisign)
    }

    fileprivate static func fingerprint(_ text: Substring) -> String? {
        let isWhole = text.utf8.count == 40 || text.utf8.count == 64
        return isWhole && text.utf8.allSatisfy { $0.hexadecimalDigit != nil } ? text.uppercased() : nil
    }

    /// Decodes the public keys in ASCII armour (RFC 9580, section 6.2), which gpgv does not read. Nil if there are
    /// none.
    private static func unarmoured(_ bytes: [UInt8]) -> [UInt8]? {
        var ring: [UInt8] = []
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map {
            $0.trimming { $0.isBlank || $0 == UInt8(ascii: "\r") }
        }
        var rest = lines[...]
        while let begin = rest.firstIndex(where: { $0.elementsEqual("-----BEGIN PGP PUBLIC KEY BLOCK-----".utf8) }) {
            let block = rest[(begin + 1)...].prefix { !$0.starts(with: "-----".utf8) }
            rest = rest[block.endIndex...]
            // The last line, which begins with "=", is a checksum.
            let body = block.drop { !$0.isEmpty }.filter { $0.first != UInt8(ascii: "=") }
            guard let data = Data(base64Encoded: Data(body.joined())) else { return nil }
            ring += data
        }
        return ring.isEmpty ? nil : ring
    }
}

/// A key as the user gave it: its text, or a file that was read.
package struct GivenKey: Sendable {
    /// The key as the request gave it.
    package let asked: String
    package let key: SigningKey
    /// The SHA-256 digest of the content.
    package let digest: String
    /// The status of the file that was read; nil for the text of a key.
    private let file: FileStatus.Info?

    /// The maximum size of a keyring in bytes. The keyring of Debian's developers has a third of this size.
    private static let largest = 64 << 20

    /// Reads the text of a key, or the file that the text names.
    /// - Parameter known: What was read before. It is returned if the file has not changed since.
    package init(_ asked: String, unless known: GivenKey? = nil) throws(DownloadError) {
        if let key = SigningKey.line(asked.utf8) {
            (self.asked, self.key, file) = (asked, key, nil)
            digest = try TextDigest(asked).hexadecimal
            return
        }
        let parts = asked.split(separator: "#", omittingEmptySubsequences: false)
        let mark = parts.last.flatMap { SigningKey.fingerprint($0) }
        let path = mark == nil ? asked : parts.dropLast().joined(separator: "#")
        let (descriptor, status) = try FileStatus.openRegular(path)
        defer { close(descriptor) }
        if let known, known.asked == asked, known.file == status {
            self = known
            return
        }
        guard let bytes = FileBytes.read(descriptor, atMost: Self.largest) else {
            throw .givenFile(errno, "read", path)
        }
        guard let key = SigningKey(bytes, fingerprint: mark) else {
            throw .verificationFailed(.unverifiable("\(path): is no public key of OpenPGP, minisign or signify"))
        }
        (self.asked, self.key, file) = (asked, key, status)
        digest = try TextDigest(bytes).hexadecimal
    }
}

extension FileSignature {
    /// Whether one of the keys made the signature, and the content of this key is still the same.
    package func isBy(_ keys: [GivenKey]) -> Bool { keys.contains { $0.asked == asked && $0.digest == keyDigest } }
}
