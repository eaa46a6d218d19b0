extension ChecksumList {
    /// The maximum size in bytes. A larger file is probably not a list of checksums.
    package static let largest = 1 << 20

    /// Reads the lines that coreutils (such as md5sum and sha256sum), BSD's tools and OpenSSL write, and lines that
    /// contain only a digest. All other lines are comments. If the file is signed, only the signed part is read; the
    /// signature is not checked.
    /// - Parameter source: The file or URL of the list, for messages. Its name may show an algorithm that dlm does not
    ///   know.
    /// - Throws: ``VerificationFailure/unverifiable(_:)`` if the file has no checksum.
    public init(_ bytes: some Collection<UInt8>, source: String) throws(DownloadError) {
        func failure(_ why: String) -> DownloadError { .verificationFailed(.unverifiable("\(source): \(why)")) }
        if bytes.count > Self.largest { throw failure("too large for a checksum file") }
        let name = Self.components(source).last ?? ""
        if let algorithm = Self.foreignAlgorithm(name) {
            throw failure("\(algorithm) digests are not supported; use MD5 or SHA")
        }
        let entries = Self.lines(Array(bytes)).compactMap(Self.entry)
        if entries.isEmpty { throw failure("no checksum in it") }
        self.init(source: source, entries: entries)
    }

    /// Returns the name of the algorithm if the file's name shows an algorithm that dlm does not support (`B2SUMS`).
    /// The digests themselves do not show this, because they are as long as those of supported algorithms.
    private static func foreignAlgorithm(_ name: String) -> String? {
        let lower = name.utf8.lowercasedASCII
        let known = [
            ("b2", "BLAKE2"), ("blake2", "BLAKE2"), ("b3", "BLAKE3"), ("blake3", "BLAKE3"), ("sha3", "SHA-3"),
            ("sm3", "SM3"),
        ]
        return known.first { mark, _ in
            let isExtension = lower.hasSuffix(".\(mark)") || lower.hasSuffix(".\(mark)sum")
            return isExtension || lower == "\(mark)sum" || lower == "\(mark)sums" || lower.hasPrefix("\(mark)sums.")
        }?.1
    }

    // MARK: Lines

    /// Returns the lines without line breaks. If the file is a PGP clear-signed message (RFC 9580 section 7), returns
    /// only the signed lines.
    private static func lines(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        var rest = bytes[...]
        if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
        let all = rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { line in
            line.last == UInt8(ascii: "\r") ? line.dropLast() : line
        }
        guard var next = all.firstIndex(where: isSignedMessage) else { return all }
        var signed: [ArraySlice<UInt8>] = []
        while next < all.endIndex {
            // An empty line ends the head of the message. Without one, the message has no body.
            let message = all[(next + 1)...].prefix { !isSignedMessage($0) && !isMark("BEGIN PGP SIGNATURE", $0) }
            let body = message.drop { !$0.allSatisfy(\.isBlank) }.dropFirst()
            signed += body.map { $0.starts(with: "- ".utf8) ? $0.dropFirst(2) : $0 }
            next = all[message.endIndex...].firstIndex(where: isSignedMessage) ?? all.endIndex
        }
        return signed
    }

    private static func isSignedMessage(_ line: ArraySlice<UInt8>) -> Bool { isMark("BEGIN PGP SIGNED MESSAGE", line) }

    private static func isMark(_ text: String, _ line: ArraySlice<UInt8>) -> Bool {
        line.starts(with: "-----\(text)-----".utf8)
    }

    // MARK: One line

    private static func entry(_ line: ArraySlice<UInt8>) -> Entry? {
        var rest = line.drop(while: \.isBlank)
        // A line that begins with a backslash has escapes in its name.
        let isEscaped = rest.first == UInt8(ascii: "\\")
        if isEscaped { rest = rest.dropFirst() }
        guard let (path, checksum) = plain(rest) ?? tagged(rest) else { return nil }
        guard let path = isEscaped ? unescaped(path) : Array(path) else { return nil }
        // A digest of standard input has no name.
        let name = path == Array("-".utf8) ? "" : String(decoding: path, as: UTF8.self)
        // A path that ends with a slash is of a folder.
        if !name.isEmpty, path.last == UInt8(ascii: "/") || components(name).isEmpty { return nil }
        return Entry(path: name, checksum: checksum)
    }

    /// Reads `HEX  name`, `HEX *name` or `HEX`.
    private static func plain(_ line: ArraySlice<UInt8>) -> (path: ArraySlice<UInt8>, Checksum)? {
        let hex = line.prefix { $0.hexadecimalDigit != nil }
        guard let checksum = Checksum(hex: hex) else { return nil }
        let rest = line[hex.endIndex...]
        if rest.allSatisfy(\.isBlank) { return (rest.suffix(0), checksum) }
        guard let first = rest.first, first.isBlank else { return nil }
        let path = rest.dropFirst()
        // The second character after the digest marks text or binary mode, which makes no difference.
        let hasMode = path.first == UInt8(ascii: " ") || path.first == UInt8(ascii: "*")
        return (hasMode ? path.dropFirst() : path, checksum)
    }

    /// Reads `SHA256 (name) = HEX`, or `SHA2-256(name)= HEX` as OpenSSL writes it.
    private static func tagged(_ line: ArraySlice<UInt8>) -> (path: ArraySlice<UInt8>, Checksum)? {
        guard let open = line.firstIndex(of: UInt8(ascii: "(")), let close = line.lastIndex(of: UInt8(ascii: ")")),
            open < close
        else { return nil }
        let tag = line[..<open].trimmingWhitespace()
        let value = line[line.index(after: close)...].trimmingWhitespace()
        guard let algorithm = Checksum.Algorithm(name: tag), value.first == UInt8(ascii: "="),
            let checksum = Checksum(hex: value.dropFirst().trimmingWhitespace()), checksum.algorithm == algorithm
        else { return nil }
        return (line[line.index(after: open)..<close], checksum)
    }

    /// Decodes coreutils' escapes `\\`, `\n` and `\r`. Returns nil for any other escape.
    private static func unescaped(_ path: ArraySlice<UInt8>) -> [UInt8]? {
        var result: [UInt8] = []
        var rest = path
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\") else {
                result.append(byte)
                continue
            }
            switch rest.popFirst() {
            case UInt8(ascii: "\\"): result.append(byte)
            case UInt8(ascii: "n"): result.append(UInt8(ascii: "\n"))
            case UInt8(ascii: "r"): result.append(UInt8(ascii: "\r"))
            default: return nil
            }
        }
        return result
    }
}
