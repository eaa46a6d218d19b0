import Foundation

/// The only array `"urls"` of a JSON document, taken out of the document. In a long list the array is nearly the
/// whole document, and a decoder takes several times as long to read it. Unusual documents are left to the decoder.
struct URLArray {
    let urls: [String]
    /// The document with an empty array in place of the URLs.
    let rest: Data

    private static let name = Array("urls".utf8)

    /// Returns nil unless the document has exactly one array `"urls"`, which is not empty and contains only strings.
    /// Also returns nil if a string of the document has escapes or characters outside of printable ASCII.
    init?(in document: Data) {
        let found = document.withUnsafeBytes { (bytes: UnsafeRawBufferPointer) -> ([String], Range<Int>)? in
            var scanner = Scanner(bytes: bytes)
            return scanner.array()
        }
        guard let (urls, range) = found else { return nil }
        self.urls = urls
        rest = document.prefix(range.lowerBound) + Data("[]".utf8) + document.dropFirst(range.upperBound)
    }

    private struct Scanner {
        let bytes: UnsafeRawBufferPointer
        var position = 0

        /// Returns the elements of the array, and its range in the document.
        mutating func array() -> ([String], Range<Int>)? {
            var found: ([String], Range<Int>)?
            while position < bytes.count {
                guard bytes[position] == UInt8(ascii: "\"") else {
                    position += 1
                    continue
                }
                guard let string = string() else { return nil }
                guard bytes[string].elementsEqual(URLArray.name), take(UInt8(ascii: ":")) else { continue }
                skipSpace()
                let start = position
                guard found == nil, let urls = strings() else { return nil }
                found = (urls, start..<position)
            }
            return found
        }

        private mutating func strings() -> [String]? {
            guard take(UInt8(ascii: "[")) else { return nil }
            var strings: [String] = []
            repeat {
                skipSpace()
                guard let range = string() else { return nil }
                strings.append(String(decoding: UnsafeRawBufferPointer(rebasing: bytes[range]), as: UTF8.self))
            } while take(UInt8(ascii: ","))
            return take(UInt8(ascii: "]")) ? strings : nil
        }

        /// Returns the range between the quotes; nil if the string is not plain.
        private mutating func string() -> Range<Int>? {
            guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else { return nil }
            let start = position + 1
            position = start
            while position < bytes.count {
                switch bytes[position] {
                case UInt8(ascii: "\""):
                    position += 1
                    return start..<(position - 1)
                case UInt8(ascii: "\\"), ..<0x20, 0x7F...: return nil
                default: position += 1
                }
            }
            return nil
        }

        private mutating func take(_ byte: UInt8) -> Bool {
            skipSpace()
            guard position < bytes.count, bytes[position] == byte else { return false }
            position += 1
            return true
        }

        private static func isSpace(_ byte: UInt8) -> Bool {
            byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
        }

        private mutating func skipSpace() {
            while position < bytes.count, Self.isSpace(bytes[position]) { position += 1 }
        }
    }
}
