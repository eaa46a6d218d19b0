/// Functions that the parsers of several header fields use. They work byte by byte. With characters, a combining mark
/// after a separator would form one `Character` with the separator, and hide it.
extension BidirectionalCollection<UInt8> where SubSequence: BidirectionalCollection<UInt8> {
    /// Returns the bytes without optional white space at both ends (RFC 9110 section 5.6.3).
    func trimmingWhitespace() -> SubSequence { trimming(\.isBlank) }

    /// Returns the bytes without those at both ends for which the condition holds.
    package func trimming(_ isTrimmed: (UInt8) -> Bool) -> SubSequence {
        guard let first = firstIndex(where: { !isTrimmed($0) }), let last = lastIndex(where: { !isTrimmed($0) }) else {
            return self[endIndex..<endIndex]
        }
        return self[first...last]
    }
}

extension Collection<UInt8> where SubSequence == Self {
    /// Removes the quoted string at the beginning (RFC 9110 section 5.6.4), and returns its bytes. Without a closing
    /// quote, the string ends with the collection.
    /// - Parameter escaped: Returns the byte for which a backslash and a byte stand.
    mutating func popQuoted(
        escaped: (UInt8) -> UInt8 = { $0 }
    ) -> (bytes: [UInt8], isClosed: Bool) {
        var bytes: [UInt8] = []
        self = dropFirst()
        while let byte = popFirst() {
            if byte == UInt8(ascii: "\"") { return (bytes, true) }
            bytes.append(byte == UInt8(ascii: "\\") ? popFirst().map(escaped) ?? byte : byte)
        }
        return (bytes, false)
    }
}

extension Collection<UInt8> {
    /// The number that the digits form (`1*DIGIT`). Nil for anything else, such as a sign, and for a number too large
    /// for Int64.
    var decimal: Int64? {
        if isEmpty { return nil }
        var number: Int64 = 0
        for byte in self {
            guard byte.isDigit else { return nil }
            let (tenfold, overflow) = number.multipliedReportingOverflow(by: 10)
            let (sum, overflow2) = tenfold.addingReportingOverflow(Int64(byte - UInt8(ascii: "0")))
            if overflow || overflow2 { return nil }
            number = sum
        }
        return number
    }

    /// The bytes as text, with A to Z in lower case.
    var lowercasedASCII: String {
        String(decoding: map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    /// The bytes with percent-encoded bytes, such as `%41`, decoded. Nil if a percent sign is not followed by two
    /// hexadecimal digits.
    package var percentDecoded: [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        var rest = self[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst()?.hexadecimalDigit, let low = rest.popFirst()?.hexadecimalDigit else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return bytes
    }
}

extension String {
    /// Returns whether all bytes satisfy the condition. This is faster than `utf8.allSatisfy`.
    func hasOnly(_ condition: (UInt8) -> Bool) -> Bool {
        var text = self
        return text.withUTF8 { $0.allSatisfy(condition) }
    }
}

extension UInt8 {
    /// The value of this character as a hexadecimal digit.
    package var hexadecimalDigit: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// Whether the byte is a space or a tab.
    package var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }

    /// Whether the byte is white space in a text file, such as a line break.
    var isSpace: Bool { self == 32 || (9...13).contains(self) }

    package var isLetterOrDigit: Bool {
        isDigit || isLowercaseLetter || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self)
    }

    package var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    /// Whether the byte is a lower-case ASCII letter.
    package var isLowercaseLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) }
}

extension BinaryInteger {
    /// Returns the digits of a number that is not negative, with zeros in front up to the width.
    package func padded(_ width: Int, radix: Int = 10) -> String {
        let digits = String(self, radix: radix)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}

extension Sequence<UInt8> {
    /// The bytes in lower-case hexadecimal digits.
    package var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// Returns the bytes as text, with each byte percent-encoded for which the condition does not hold.
    package func percentEncoded(except isKept: (UInt8) -> Bool) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        let bytes = flatMap { isKept($0) ? [$0] : [UInt8(ascii: "%"), digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Percent-encoding for forms and queries. All bytes except unreserved characters are encoded (RFC 3986 section 2.3),
/// as curl does.
package enum Form {
    package static func encoded(_ text: some StringProtocol) -> String {
        text.utf8.percentEncoded { $0.isLetterOrDigit || "-._~".utf8.contains($0) }
    }
}
