/// Makes hostile inputs out of valid inputs. Most code of a parser is reached only by inputs that are nearly valid.
package struct Mutator: Sendable {
    package var random: SplitMix64
    private let corpus: [[UInt8]]
    private let words: [[UInt8]]

    /// The maximum length of an input.
    private static let longest = 64 << 10

    /// - Parameters:
    ///   - corpus: valid inputs; an empty input is added.
    ///   - words: the elements of the syntax.
    package init(corpus: [String], words: [String] = [], seed: UInt64) {
        self.corpus = [[]] + corpus.map { Array($0.utf8) }
        self.words = Self.words + words.map { Array($0.utf8) }
        random = SplitMix64(seed: seed)
    }

    /// Returns a valid input, unchanged or with a few changes.
    package mutating func next() -> [UInt8] {
        var bytes = sample()
        for _ in 0..<Int.random(in: 0...5, using: &random) { mutate(&bytes) }
        return Array(bytes.prefix(Self.longest))
    }

    private mutating func sample() -> [UInt8] { corpus.randomElement(using: &random) ?? [] }

    private mutating func mutate(_ bytes: inout [UInt8]) {
        switch Int.random(in: 0..<12, using: &random) {
        case 0: replace(place(in: bytes, atMost: 1), in: &bytes, with: [UInt8.random(in: 0...255, using: &random)])
        case 1: replace(place(in: bytes, atMost: 0), in: &bytes, with: [UInt8.random(in: 0...255, using: &random)])
        case 2: replace(place(in: bytes, atMost: 8), in: &bytes, with: [])
        case 3: bytes.removeSubrange(place(in: bytes, atMost: 0).lowerBound...)
        case 4: repeatPart(of: &bytes)
        case 5:
            let other = sample()
            let part = place(in: other, atMost: other.count)
            replace(place(in: bytes, atMost: 8), in: &bytes, with: Array(other[part]))
        case 6, 7: replaceNumber(in: &bytes)
        default: replace(place(in: bytes, atMost: 2), in: &bytes, with: words.randomElement(using: &random) ?? [])
        }
    }

    private mutating func place(in bytes: [UInt8], atMost length: Int) -> Range<Int> {
        let start = Int.random(in: 0...bytes.count, using: &random)
        return start..<min(bytes.count, start + Int.random(in: 0...length, using: &random))
    }

    private func replace(_ place: Range<Int>, in bytes: inout [UInt8], with part: [UInt8]) {
        bytes.replaceSubrange(place, with: part)
    }

    /// Repeats a part of the input. The part is usually repeated a few times. Rarely it is repeated until the input is
    /// so long that non-linear time shows.
    private mutating func repeatPart(of bytes: inout [UInt8]) {
        let part = Array(bytes[place(in: bytes, atMost: 12)])
        guard !part.isEmpty else { return }
        let isHuge = Int.random(in: 0..<50, using: &random) == 0
        let times = isHuge ? Self.longest / part.count : Int.random(in: 2...20, using: &random)
        bytes.replaceSubrange(place(in: bytes, atMost: 0), with: repeatElement(part, count: times).joined())
    }

    private mutating func replaceNumber(in bytes: inout [UInt8]) {
        let isDigit = { (byte: UInt8) in (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
        let starts = bytes.indices.filter { isDigit(bytes[$0]) && ($0 == 0 || !isDigit(bytes[$0 - 1])) }
        guard let start = starts.randomElement(using: &random) else { return }
        let end = bytes[start...].firstIndex { !isDigit($0) } ?? bytes.count
        bytes.replaceSubrange(start..<end, with: Array((Self.numbers.randomElement(using: &random) ?? "0").utf8))
    }

    /// Numbers at the limits of integer types.
    private static let numbers = [
        "0", "-1", "1", "00", "2147483647", "2147483648", "4294967296", "9007199254740993", "9223372036854775806",
        "9223372036854775807", "9223372036854775808", "-9223372036854775808", "18446744073709551615",
        "18446744073709551616", "1e300", "-1e300", "1e-300", "0.1", "99999999999999999999999999", "+1", "0x10",
    ]

    /// Bytes that often cause errors anywhere in an input.
    private static let words: [[UInt8]] = [
        [0], [0x0A], [0x0D, 0x0A], [0x09], [0x20], [0x1B, 0x5B], [0x7F], [0xC2, 0x9B],
        // A combining mark, a joiner, a direction mark, a byte order mark, an emoji: these can hide a separator.
        [0xCC, 0x81], [0xE2, 0x80, 0x8D], [0xE2, 0x80, 0xAE], [0xEF, 0xBB, 0xBF], [0xF0, 0x9F, 0x8E, 0x89],
        // Invalid UTF-8: cut short, overlong, a surrogate, too large.
        [0xFF], [0xC3], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80],
        Array("\"".utf8), Array("'".utf8), Array("\\".utf8), Array("%".utf8), Array("%00".utf8), Array("%2F".utf8),
        Array("/".utf8), Array("..".utf8), Array(",".utf8), Array(";".utf8), Array(":".utf8), Array("=".utf8),
        Array("-".utf8), Array("*".utf8), Array("[".utf8), Array("]".utf8), Array("{".utf8), Array("}".utf8),
        Array("null".utf8), Array("@".utf8), Array("?".utf8), Array("#".utf8),
    ]
}
