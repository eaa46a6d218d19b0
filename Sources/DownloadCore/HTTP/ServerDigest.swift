import Foundation
import HTTPTypes

/// The digests that a server states for the whole file: `Repr-Digest` and `Content-Digest` (RFC 9530), the older
/// `Digest` (RFC 3230) and `Content-MD5` (RFC 1864), in the head or the trailer of an answer, and the fields of storage
/// services (``StorageDigest``) in the head. Malformed fields and unknown algorithms are ignored.
package enum ServerDigest {
    /// The value of `Want-Repr-Digest`, with the algorithms in the order of ``Checksum/Algorithm/preferred``.
    package static let wanted = "sha-256=10, sha-512=3"

    /// Returns the preferred digest of the answer, or nil if the server states no usable digest.
    package static func checksum(of head: ResponseHead) -> Checksum? { checksums(of: head).first }

    /// Returns the digests of the answer, at most one for each algorithm, the preferred algorithm first.
    /// - Parameter trailers: The fields after the body (RFC 9110 section 6.5), to return the digests in them instead of
    ///   those in the head.
    package static func checksums(of head: ResponseHead, in trailers: HTTPFields? = nil) -> [Checksum] {
        let stated = trailers ?? head.fields
        // The digests are of the encoded file. If the content was decoded, the digests cannot be compared with it.
        if head.isDecoded { return [] }
        let stored = trailers == nil ? StorageDigest.checksums(of: head) : []
        if stored.isEmpty, !fields.contains(where: { stated.has($0) }) { return [] }
        var found: [Checksum.Algorithm: Checksum] = [:]
        func add(_ field: String, _ read: (String?) -> [Checksum]) {
            for checksum in read(stated.value(of: field.lowercased())) where found[checksum.algorithm] == nil {
                found[checksum.algorithm] = checksum.stated(in: field)
            }
        }
        add("Repr-Digest", representation)
        if coversWhole(head) { add("Content-Digest", representation) }
        // There was never an agreement on what `Digest` and `Content-MD5` mean for an encoded file.
        if ResponseJudge.contentEncoding(head) == nil {
            add("Digest") { instance($0) { Checksum.Algorithm(name: $0) } }
            if coversWhole(head) { add("Content-MD5") { plain($0, .md5) } }
        }
        for checksum in stored where found[checksum.algorithm] == nil { found[checksum.algorithm] = checksum }
        return Checksum.Algorithm.preferred.compactMap { found[$0] }
    }

    /// Returns a digest that proves that the answer is of another version than the version with the known digest.
    package static func contradicts(_ known: Checksum, _ head: ResponseHead) -> Checksum? {
        checksums(of: head).first { $0.algorithm == known.algorithm && $0.digest != known.digest }
    }

    /// Returns whether the content of the answer is the whole file: a 200, or a 206 with all bytes. `Content-Digest` and
    /// `Content-MD5` cover the content of their own answer, so any other 206 says nothing about the whole file.
    static func coversWhole(_ head: ResponseHead) -> Bool {
        head.status == 206 ? ContentRange(head: head)?.sizeOfWhole != nil : head.status == 200
    }

    private static let fields = ["repr-digest", "content-digest", "digest", "content-md5"]

    // MARK: The fields

    /// Returns the bytes of a field. Returns no bytes if there is no field, or if it has more than 8192 bytes.
    private static func bytes(_ value: String?) -> [UInt8] {
        value.flatMap { $0.utf8.count <= 8192 ? Array($0.utf8) : nil } ?? []
    }

    /// Parses a dictionary of byte sequences (RFC 9651 section 3.2). A member with an invalid key or value makes
    /// the whole field void. If several members name an algorithm, the last digest of the right length counts.
    private static func representation(_ value: String?) -> [Checksum] {
        var found: [Checksum] = []
        for member in bytes(value).split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            let text = member.trimmingWhitespace()
            guard let equals = text.firstIndex(of: UInt8(ascii: "=")), isKey(text[..<equals]),
                let bytes = byteSequence(text[text.index(after: equals)...])
            else { return [] }
            guard let algorithm = Checksum.Algorithm(name: text[..<equals]),
                let checksum = Checksum(algorithm: algorithm, bytes: bytes)
            else { continue }
            found.removeAll { $0.algorithm == algorithm }
            found.append(checksum)
        }
        return found
    }

    /// Returns whether the text is a `key` (RFC 9651 section 3.1.2).
    private static func isKey(_ text: some Collection<UInt8>) -> Bool {
        guard let first = text.first, first.isLowercaseLetter || first == UInt8(ascii: "*") else { return false }
        return text.allSatisfy { $0.isLowercaseLetter || $0.isDigit || "_-.*".utf8.contains($0) }
    }

    /// Parses `:BASE64:`. Parameters may follow. None are defined, so they are ignored; but one with a
    /// quoted string makes the value invalid, because the field was divided at its commas.
    private static func byteSequence(_ text: some BidirectionalCollection<UInt8>) -> Data? {
        let colon = UInt8(ascii: ":")
        guard text.first == colon, let end = text.dropFirst().firstIndex(of: colon) else { return nil }
        let rest = text[text.index(after: end)...]
        guard rest.isEmpty || rest.first == UInt8(ascii: ";"), !rest.contains(UInt8(ascii: "\"")) else { return nil }
        return Data(base64Encoded: Data(text[text.index(after: text.startIndex)..<end]))
    }

    /// Parses `SHA-256=BASE64,MD5=BASE64`. A malformed member is skipped.
    /// - Parameter algorithm: Returns the algorithm with a name; nil if it is unknown.
    static func instance(_ value: String?, _ algorithm: (ArraySlice<UInt8>) -> Checksum.Algorithm?) -> [Checksum] {
        bytes(value).split(separator: UInt8(ascii: ",")).compactMap { member in
            let text = member.trimmingWhitespace()
            guard let equals = text.firstIndex(of: UInt8(ascii: "=")),
                let algorithm = algorithm(text[..<equals]),
                let bytes = Data(base64Encoded: Data(text[text.index(after: equals)...]))
            else { return nil }
            return Checksum(algorithm: algorithm, bytes: bytes)
        }
    }

    /// Parses `BASE64`.
    static func plain(_ value: String?, _ algorithm: Checksum.Algorithm) -> [Checksum] {
        guard let digest = Data(base64Encoded: Data(bytes(value).trimmingWhitespace())),
            let checksum = Checksum(algorithm: algorithm, bytes: digest)
        else { return [] }
        return [checksum]
    }
}

extension HTTPField.Name {
    package static let wantReprDigest = Self("Want-Repr-Digest")
}
