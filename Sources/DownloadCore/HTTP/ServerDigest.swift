import Foundation
import HTTPTypes

/// What a server says that the whole file hashes to: `Repr-Digest` (RFC 9530), the older `Digest` (RFC 3230), and
/// `Content-MD5` (RFC 1864). What is malformed, or of an algorithm that is unknown here, is none.
enum ServerDigest {
    /// The value of `Want-Repr-Digest`: the algorithms in the order of ``Checksum/Algorithm/preferred``.
    static let wanted = "sha-256=10, sha-512=3"

    /// The one to go by; nil when the server says nothing usable.
    static func checksum(of head: ResponseHead) -> Checksum? { checksums(of: head).first }

    /// At most one for each algorithm, the preferred one first.
    static func checksums(of head: ResponseHead) -> [Checksum] {
        // They are of the coded file.
        if head.isDecoded { return [] }
        var found: [Checksum.Algorithm: Checksum] = [:]
        func add(_ checksums: [Checksum]) {
            for checksum in checksums where found[checksum.algorithm] == nil {
                found[checksum.algorithm] = checksum
            }
        }
        add(representation(value(.reprDigest, head)))
        // What these say of a coded file was never agreed upon.
        if ResponseJudge.contentEncoding(head) == nil {
            add(instance(value(.digest, head)))
            if coversWhole(head) { add(contentMD5(value(.contentMD5, head))) }
        }
        return Checksum.Algorithm.preferred.compactMap { found[$0] }
    }

    /// Evidence that the answer is of another version than the one with this digest.
    static func contradicts(_ known: Checksum, _ head: ResponseHead) -> Checksum? {
        checksums(of: head).first { $0.algorithm == known.algorithm && $0.digest != known.digest }
    }

    /// Returns true when the content of the answer is the whole file: a 200, or a 206 with all of it. `Content-MD5` covers
    /// the content of its answer (RFC 1864), so it says nothing of the file in any other 206.
    private static func coversWhole(_ head: ResponseHead) -> Bool {
        guard head.status == 206 else { return head.status == 200 }
        guard let value = head.fields.value(.contentRange),
            case .satisfied(let range, let total?)? = ContentRange(fieldValue: value)
        else { return false }
        return range == 0..<total
    }

    /// All fields of that name as one list; nil when there is none, or far too much.
    private static func value(_ name: HTTPField.Name?, _ head: ResponseHead) -> [UInt8]? {
        guard let name else { return nil }
        let values = head.fields.values(name)
        let joined = values.joined(separator: ", ")
        return values.isEmpty || joined.utf8.count > longest ? nil : Array(joined.utf8)
    }

    private static let longest = 8192

    // MARK: The fields

    /// A dictionary of byte sequences (RFC 9651 section 3.2): one error anywhere makes the whole field void, and the
    /// last of two members with one key counts.
    private static func representation(_ value: [UInt8]?) -> [Checksum] {
        guard let value else { return [] }
        var found: [Checksum] = []
        for member in value.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
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

    /// `key` of RFC 9651 section 3.1.2.
    private static func isKey(_ text: some Collection<UInt8>) -> Bool {
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        guard let first = text.first, letters.contains(first) || first == UInt8(ascii: "*") else { return false }
        return text.allSatisfy { letters.contains($0) || "0123456789_-.*".utf8.contains($0) }
    }

    /// `:BASE64:`, and parameters, which nobody has defined.
    private static func byteSequence(_ text: some BidirectionalCollection<UInt8>) -> Data? {
        let colon = UInt8(ascii: ":")
        guard text.first == colon, let end = text.dropFirst().firstIndex(of: colon) else { return nil }
        let rest = text[text.index(after: end)...]
        guard rest.isEmpty || rest.first == UInt8(ascii: ";"), !rest.contains(UInt8(ascii: "\"")) else { return nil }
        return Data(base64Encoded: Data(text[text.index(after: text.startIndex)..<end]))
    }

    /// `SHA-256=BASE64,MD5=BASE64`; one bad member leaves the others alone.
    private static func instance(_ value: [UInt8]?) -> [Checksum] {
        guard let value else { return [] }
        return value.split(separator: UInt8(ascii: ",")).compactMap { member in
            let text = member.trimmingWhitespace()
            guard let equals = text.firstIndex(of: UInt8(ascii: "=")),
                let algorithm = Checksum.Algorithm(name: text[..<equals]),
                let bytes = Data(base64Encoded: Data(text[text.index(after: equals)...]))
            else { return nil }
            return Checksum(algorithm: algorithm, bytes: bytes)
        }
    }

    private static func contentMD5(_ value: [UInt8]?) -> [Checksum] {
        guard let value, let bytes = Data(base64Encoded: Data(value.trimmingWhitespace())),
            let checksum = Checksum(algorithm: .md5, bytes: bytes)
        else { return [] }
        return [checksum]
    }
}

extension HTTPField.Name {
    static let wantReprDigest = Self("Want-Repr-Digest")
    fileprivate static let reprDigest = Self("Repr-Digest")
    fileprivate static let digest = Self("Digest")
    fileprivate static let contentMD5 = Self("Content-MD5")
}
