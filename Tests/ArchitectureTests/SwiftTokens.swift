/// A word, or a single other character, of Swift code.
struct Token: Equatable {
    let text: String
    let line: Int
    /// The offset of the first byte in the file. Two tokens touch if one ends where the other begins.
    let start: Int

    var end: Int { start + text.utf8.count }
}

/// The tokens of Swift code, without comments and the text of string literals. The code in interpolations is kept. With
/// tokens, words and their neighbours can be found, which would be wrong with a search in lines.
struct SwiftTokens {
    private let bytes: [UInt8]
    private var position = 0
    private var line = 1
    private var tokens: [Token] = []

    static func tokens(of text: String) -> [Token] {
        var reader = SwiftTokens(bytes: Array(text.utf8))
        while reader.position < reader.bytes.count { reader.readOne() }
        return reader.tokens
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private func has(_ text: String, at offset: Int = 0) -> Bool {
        var place = position + offset
        for byte in text.utf8 {
            guard place < bytes.count, bytes[place] == byte else { return false }
            place += 1
        }
        return true
    }

    private mutating func skip(_ count: Int = 1) {
        for byte in bytes[position..<min(position + count, bytes.count)] where byte == UInt8(ascii: "\n") { line += 1 }
        position = min(position + count, bytes.count)
    }

    private mutating func readOne() {
        if has("//") {
            while position < bytes.count, !has("\n") { skip() }
        } else if has("/*") {
            skipComment()
        } else if let hashes = hashesBeforeQuote() {
            skipString(hashes: hashes)
        } else if isWord(bytes[position]) || has("`") {
            readWord()
        } else {
            if !has(" "), !has("\t"), !has("\r"), !has("\n") { add(position..<position + 1) }
            skip()
        }
    }

    private mutating func add(_ range: Range<Int>) {
        tokens.append(Token(text: String(decoding: bytes[range], as: UTF8.self), line: line, start: range.lowerBound))
    }

    /// Reads a word with its backticks, its `@` or its `#`.
    private mutating func readWord() {
        let start = position
        let isQuoted = has("`")
        skip()
        while position < bytes.count, isQuoted ? !has("`") && !has("\n") : isWordPart(bytes[position]) { skip() }
        if isQuoted { skip() }
        add(start..<position)
    }

    private func isWord(_ byte: UInt8) -> Bool { isWordPart(byte) || "@#".utf8.contains(byte) }

    private func isWordPart(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
            true
        default: false
        }
    }

    private mutating func skipComment() {
        var depth = 0
        repeat {
            if has("/*") {
                depth += 1
                skip(2)
            } else if has("*/") {
                depth -= 1
                skip(2)
            } else {
                skip()
            }
        } while depth > 0 && position < bytes.count
    }

    /// Returns the number of `#` of the string literal that begins here, or nil if none begins.
    private func hashesBeforeQuote() -> Int? {
        let hashes = bytes[position...].prefix { $0 == UInt8(ascii: "#") }.count
        return has("\"", at: hashes) ? hashes : nil
    }

    private mutating func skipString(hashes: Int) {
        let marks = String(repeating: "#", count: hashes)
        skip(hashes)
        let quotes = has("\"\"\"") ? "\"\"\"" : "\""
        skip(quotes.utf8.count)
        while position < bytes.count {
            if has(quotes + marks) { return skip(quotes.utf8.count + hashes) }
            if quotes.utf8.count == 1, has("\n") { return }
            if has("\\" + marks + "(") {
                skip(1 + hashes)
                readInterpolation()
            } else {
                skip(has("\\" + marks) ? 2 + hashes : 1)
            }
        }
    }

    private mutating func readInterpolation() {
        var depth = 0
        repeat {
            if has("(") { depth += 1 }
            if has(")") { depth -= 1 }
            readOne()
        } while depth > 0 && position < bytes.count
    }
}
