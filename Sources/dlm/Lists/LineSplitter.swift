import DownloadKit

/// A splitter that cuts bytes into numbered lines, and drops blank lines and `#` comments.
struct LineSplitter {
    private var rest: [UInt8] = []
    private var number = 0

    /// The greatest length of a line, in bytes, so that a file that is no list cannot fill the memory.
    private static let longest = 8 << 20

    /// The number of the line that is being read if the line is too long, otherwise nil.
    var overlong: Int? { rest.count > Self.longest ? number + 1 : nil }

    /// Whether the line that is being read is a URL. If so, no further options follow for the URL above it.
    var isWithinURL: Bool { rest.first.map { !" \t\r#".utf8.contains($0) } ?? false }

    mutating func split(_ bytes: [UInt8]) -> [InputList.Line] {
        var lines: [InputList.Line] = []
        var start = bytes.startIndex
        while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
            if rest.isEmpty {
                append(bytes[start..<end], to: &lines)
            } else {
                append((rest + bytes[start..<end])[...], to: &lines)
                rest = []
            }
            start = end + 1
        }
        rest += bytes[start...]
        return lines
    }

    /// Returns the last line, if it has no line break.
    mutating func end() -> [InputList.Line] {
        var lines: [InputList.Line] = []
        if !rest.isEmpty { append(rest[...], to: &lines) }
        rest = []
        return lines
    }

    private mutating func append(_ bytes: ArraySlice<UInt8>, to lines: inout [InputList.Line]) {
        number += 1
        // Most lines begin with a letter and have only visible ASCII bytes. They are not comments and need no trimming.
        if let first = bytes.first, first.isLowercaseLetter, bytes.allSatisfy({ (0x21...0x7E).contains($0) }) {
            return lines.append(InputList.Line(number: number, text: String(decoding: bytes, as: UTF8.self)))
        }
        let decoded = String(validating: bytes, as: UTF8.self)
        var text = decoded ?? String(decoding: bytes, as: UTF8.self)
        if number == 1, text.hasPrefix("\u{FEFF}") { text.removeFirst() }
        while text.last?.isWhitespace ?? false { text.removeLast() }
        let start = text.drop(while: \.isWhitespace)
        if !start.isEmpty, start.first != "#" {
            lines.append(InputList.Line(number: number, text: text, isReadable: decoded != nil))
        }
    }
}
