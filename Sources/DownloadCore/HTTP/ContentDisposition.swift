import Foundation

/// The file name in a `Content-Disposition` field (RFC 6266), as the server wrote it. The name is not safe before
/// ``FileNaming`` has changed it.
package struct ContentDisposition: Equatable, Sendable {
    /// The decoded value of `filename*` (RFC 8187).
    package let extendedFileName: String?
    /// The value of `filename`, which may be quoted or not.
    package let plainFileName: String?

    /// The preferred name (RFC 6266 section 4.3).
    package var fileName: String? { extendedFileName ?? plainFileName }

    /// Reads a field value. Returns nil if it has neither a disposition nor a parameter.
    package init?(fieldValue: String) {
        var scanner = ParameterScanner(fieldValue.utf8[...])
        var extended: String?
        var plain: String?
        var isEmpty = true
        while let parameter = scanner.next() {
            isEmpty = false
            // If a parameter occurs twice, which is an error, the first usable value is used.
            switch parameter.name {
            case "filename*": extended = extended ?? Self.decodedExtended(parameter.value)
            case "filename": plain = plain ?? Self.nonEmpty(Self.decodedPlain(parameter.value, parameter.isQuoted))
            default: break
            }
        }
        if isEmpty { return nil }
        extendedFileName = extended
        plainFileName = plain
    }

    /// Decodes a value such as `UTF-8'en'na%C3%AFve`. Returns nil if it is malformed or in another character set.
    private static func decodedExtended(_ value: [UInt8]) -> String? {
        let parts = value.split(separator: UInt8(ascii: "'"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = parts[2].percentDecoded else { return nil }
        switch parts[0].lowercasedASCII {
        case "utf-8": return String(validating: bytes, as: UTF8.self).flatMap(nonEmpty)
        case "iso-8859-1": return nonEmpty(latin1(bytes))
        default: return nil
        }
    }

    /// Decodes what RFC 6266 does not permit, but browsers accept: encoded words (RFC 2047), and percent-encoding
    /// outside of quotes.
    private static func decodedPlain(_ value: [UInt8], _ isQuoted: Bool) -> String {
        let text = EncodedWords.decoded(String(decoding: value, as: UTF8.self))
        if isQuoted { return text }
        return text.utf8.percentDecoded.flatMap { String(validating: $0, as: UTF8.self) } ?? text
    }

    fileprivate static func latin1(_ bytes: some Sequence<UInt8>) -> String {
        String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }

    private static func nonEmpty(_ text: String) -> String? { text.isEmpty ? nil : text }
}

/// A scanner for the parts of a field, which are separated by semicolons. A part such as `attachment` is a name without
/// a value.
struct ParameterScanner {
    private var rest: Substring.UTF8View

    init(_ text: Substring.UTF8View) { rest = text }

    mutating func next() -> (name: String, value: [UInt8], isQuoted: Bool)? {
        rest = rest.drop { $0 == UInt8(ascii: ";") || $0.isBlank }
        if rest.isEmpty { return nil }
        let name = rest.prefix { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ";") }
        rest = rest[name.endIndex...]
        var (value, isQuoted) = ([UInt8](), false)
        if rest.first == UInt8(ascii: "=") {
            rest = rest.dropFirst().drop(while: \.isBlank)
            isQuoted = rest.first == UInt8(ascii: "\"")
            value = isQuoted ? quoted() : token()
        }
        return (name.trimmingWhitespace().lowercasedASCII, value, isQuoted)
    }

    /// Reads up to the semicolon, including spaces, because some servers omit the quotes around names with spaces.
    private mutating func token() -> [UInt8] {
        let token = rest.prefix { $0 != UInt8(ascii: ";") }
        rest = rest[token.endIndex...]
        return Array(token.trimmingWhitespace())
    }

    /// Reads a quoted string. Text between the closing quote and the semicolon is skipped.
    private mutating func quoted() -> [UInt8] {
        defer { rest = rest.drop { $0 != UInt8(ascii: ";") } }
        return rest.popQuoted().bytes
    }
}

/// Words such as `=?UTF-8?B?5Lit?=` (RFC 2047), in UTF-8 or ISO-8859-1. Other words stay encoded, and so do words that
/// are cut off. A slash in such a word is a digit of base64 and does not divide a path, so it is replaced.
private enum EncodedWords {
    static func decoded(_ text: String) -> String {
        var (result, rest) = ("", Substring(text))
        // A character may be divided between two words, so their bytes are joined before they are decoded.
        var (bytes, set, followsWord) = ([UInt8](), "", false)
        func flush() {
            result += set == "utf-8" ? String(decoding: bytes, as: UTF8.self) : ContentDisposition.latin1(bytes)
            bytes = []
        }
        while let start = rest.utf8.indices.first(where: { rest[$0...].utf8.starts(with: "=?".utf8) }) {
            let between = rest[..<start]
            guard let word = word(rest[start...]) else {
                flush()
                followsWord = false
                let kept = unreadable(rest[start...]) ?? rest[start..<rest.utf8.index(after: start)]
                result += between
                result.unicodeScalars += kept.unicodeScalars.map { $0 == "/" || $0 == "\\" ? "_" : $0 }
                rest = rest[kept.endIndex...]
                continue
            }
            // White space between two words is not part of the text (RFC 2047 section 6.2).
            let isJoined = followsWord && between.allSatisfy(\.isWhitespace)
            if !isJoined || set != word.set { flush() }
            if !isJoined { result += between }
            bytes += word.bytes
            (set, rest, followsWord) = (word.set, word.rest, true)
        }
        flush()
        return result + rest
    }

    private static func word(_ text: Substring) -> (set: String, bytes: [UInt8], rest: Substring)? {
        let parts = text.dropFirst(2).split(separator: "?", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 4, parts[3].hasPrefix("=") else { return nil }
        let set = parts[0].lowercased()
        guard set == "utf-8" || set == "iso-8859-1" else { return nil }
        let bytes: [UInt8]? =
            switch parts[1] {
            case "B", "b": Data(base64Encoded: String(parts[2])).map { Array($0) }
            case "Q", "q": quoted(parts[2].utf8)
            default: nil
            }
        return bytes.map { (set, $0, parts[3].dropFirst()) }
    }

    /// Returns the word at the beginning of a text if it is in another character set, malformed or cut off.
    private static func unreadable(_ text: Substring) -> Substring? {
        let parts = text.dropFirst(2).split(separator: "?", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count >= 3, ["B", "b", "Q", "q"].contains(parts[1]) else { return nil }
        let isWhole = parts.count == 4 && parts[3].hasPrefix("=")
        return text[..<(isWhole ? parts[3].index(after: parts[3].startIndex) : parts[2].endIndex)]
    }

    /// Decodes the encoding `Q`: `=` and two hexadecimal digits for a byte, and `_` for a space.
    private static func quoted(_ text: Substring.UTF8View) -> [UInt8]? {
        text.flatMap { byte in
            switch byte {
            case UInt8(ascii: "="): Array("%".utf8)
            case UInt8(ascii: "_"): Array(" ".utf8)
            case UInt8(ascii: "%"): Array("%25".utf8)
            default: [byte]
            }
        }.percentDecoded
    }
}
