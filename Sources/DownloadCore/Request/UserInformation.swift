/// A search for names and passwords in text that contains URLs or malformed URLs. Every function reads bytes. With
/// characters, a combining mark after a separator would form one `Character` with the separator, and hide it. The time
/// is proportional to the length of the text.
package enum UserInformation {
    /// Returns the ranges of user information in URLs: the bytes between `://` and the last `@` of the authority.
    package static func inURLs(_ text: [UInt8]) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        var rest = 0
        while let start = endOfMark(in: text, from: rest) {
            let end = text[start...].firstIndex { endsAuthority($0) } ?? text.endIndex
            if let at = text[start..<end].lastIndex(of: UInt8(ascii: "@")) { ranges.append(start..<at) }
            rest = end
        }
        return ranges
    }

    /// Returns the ranges of `user:password` before an `@`, even without a scheme before them.
    package static func inWords(_ text: [UInt8]) -> [Range<Int>] {
        text.split(whereSeparator: endsAuthority).compactMap { word in
            guard let colon = word.firstIndex(of: UInt8(ascii: ":")), let at = word.lastIndex(of: UInt8(ascii: "@")),
                colon < at
            else { return nil }
            return word.startIndex..<at
        }
    }

    /// Returns the text with `***` in place of each range.
    /// - Parameter ranges: The ranges in the text's UTF-8, sorted and not overlapping.
    package static func hiding(_ ranges: [Range<Int>], in text: [UInt8]) -> String {
        var result: [UInt8] = []
        var end = 0
        for range in ranges {
            result += text[end..<range.lowerBound]
            result += "***".utf8
            end = range.upperBound
        }
        return String(decoding: result + text[end...], as: UTF8.self)
    }

    /// Returns the offset after the next `://`, or nil if there is none.
    package static func endOfMark(in text: [UInt8], from start: Int) -> Int? {
        var rest = start
        while let colon = text[rest...].firstIndex(of: UInt8(ascii: ":")) {
            if text[colon...].starts(with: "://".utf8) { return colon + 3 }
            rest = colon + 1
        }
        return nil
    }

    /// Returns whether the byte ends an authority: white space, or the start of a path, query or fragment (RFC 3986
    /// section 3.2).
    private static func endsAuthority(_ byte: UInt8) -> Bool {
        switch byte {
        case 0...0x20, UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"): true
        default: false
        }
    }
}
