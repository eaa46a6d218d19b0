import Foundation

/// A reader of the subset of XML 1.0 that documents from the network may use here: elements, attributes, text, CDATA,
/// comments and processing instructions, in UTF-8. Document types are refused, and therefore all entities except the
/// five predefined ones. This prevents the known abuse of entities: endless expansion, and reading of local files.
///
/// An element with the same prefix as the outermost element is named without the prefix. Other elements, and
/// attributes, keep their prefix, because they belong to other vocabularies.
package struct XMLReader {
    package enum Token: Equatable {
        case start(name: String, attributes: [String: String])
        case end(name: String)
        /// The text between two tags. It may come in several parts.
        case text(String)
    }

    package struct Failure: Error, Equatable {
        let line: Int
        package let message: String
    }

    private let bytes: [UInt8]
    private var position = 0
    private var open: [(name: String, qualified: ArraySlice<UInt8>)] = []
    /// Whether the last tag opened and closed its element, so that the end is still to be returned.
    private var owedEnd = false
    private var hasRoot = false
    /// The prefix of the outermost element. Empty if the element has no prefix.
    private var ownPrefix: ArraySlice<UInt8> = []

    private static let deepest = 32
    private static let mostAttributes = 64

    package init(_ bytes: [UInt8]) throws(Failure) {
        self.bytes = bytes
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
        guard String(validating: bytes, as: UTF8.self) != nil else { throw Failure(line: 1, message: "not UTF-8 text") }
    }

    /// Returns the next token, or nil at the end of the document.
    package mutating func next() throws(Failure) -> Token? {
        if owedEnd {
            owedEnd = false
            return .end(name: open.removeLast().name)
        }
        while position < bytes.count {
            guard bytes[position] == UInt8(ascii: "<") else {
                let text = try text(until: UInt8(ascii: "<"))
                if !open.isEmpty { return .text(text) }
                if text.contains(where: { !$0.isWhitespace }) { throw failure("text outside of its element") }
                continue
            }
            if let token = try markup() { return token }
        }
        if let last = open.last { throw failure("<\(last.name)> is not closed") }
        if !hasRoot { throw failure("no element in it") }
        return nil
    }

    /// Reads the markup at a `<`. Returns nil for markup without content, such as a comment.
    private mutating func markup() throws(Failure) -> Token? {
        if take("<!--") { return try skip(past: "-->") }
        if take("<?") {
            let start = position
            try skip(past: "?>")
            try checkDeclaration(bytes[start..<position])
            return nil
        }
        if take("<![CDATA[") {
            let start = position
            try skip(past: "]]>")
            if open.isEmpty { throw failure("text outside of its element") }
            let text = bytes[start..<position - 3]
            if text.contains(where: Self.isControl) { throw failure("a control character") }
            return .text(String(decoding: text, as: UTF8.self))
        }
        if take("<!") { throw failure("a document type or entities, which are not supported") }
        return take("</") ? try endTag() : try startTag()
    }

    /// Throws if the XML declaration names another encoding, in which the bytes would have another meaning.
    private func checkDeclaration(_ text: ArraySlice<UInt8>) throws(Failure) {
        guard text.starts(with: "xml".utf8), text.dropFirst(3).first.map(Self.isSpace) ?? false else { return }
        let words = String(decoding: text, as: UTF8.self).lowercased()
        guard let mark = words.range(of: "encoding") else { return }
        let value = words[mark.upperBound...].drop { $0.isWhitespace || "=\"'".contains($0) }.prefix {
            !"\"' ?".contains($0)
        }
        if !["utf-8", "us-ascii"].contains(value) { throw failure("in the encoding \(value), not in UTF-8") }
    }

    @discardableResult
    private mutating func skip(past end: StaticString) throws(Failure) -> Token? {
        let mark = Array("\(end)".utf8)
        while position + mark.count <= bytes.count {
            if bytes[position..<position + mark.count].elementsEqual(mark) {
                position += mark.count
                return nil
            }
            position += 1
        }
        throw failure("ends before \(end)")
    }

    private mutating func take(_ text: StaticString) -> Bool {
        let mark = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        guard bytes[position...].starts(with: mark) else { return false }
        position += mark.count
        return true
    }

    // MARK: Tags

    private mutating func startTag() throws(Failure) -> Token {
        position += 1
        if open.isEmpty, hasRoot { throw failure("a second element at the top") }
        let qualified = try name()
        let colon = qualified.firstIndex(of: UInt8(ascii: ":"))
        let prefix = colon.map { qualified[..<$0] } ?? []
        if !hasRoot { ownPrefix = prefix }
        hasRoot = true
        let local = prefix == ownPrefix ? colon.map { qualified[($0 + 1)...] } : nil
        let element = String(decoding: local ?? qualified, as: UTF8.self)
        var attributes: [String: String] = [:]
        while true {
            let hadSpace = skipSpace()
            if take("/>") {
                owedEnd = true
                break
            }
            if take(">") { break }
            guard hadSpace, attributes.count < Self.mostAttributes else { throw failure("a malformed tag") }
            let key = try name()
            skipSpace()
            guard take("=") else { throw failure("an attribute without a value") }
            skipSpace()
            let value = try quoted()
            // A namespace declaration is not reported as an attribute.
            if key.starts(with: "xmlns".utf8) { continue }
            guard attributes.updateValue(value, forKey: String(decoding: key, as: UTF8.self)) == nil else {
                throw failure("an attribute twice")
            }
        }
        guard open.count < Self.deepest else { throw failure("elements nested too deeply") }
        open.append((element, qualified))
        return .start(name: element, attributes: attributes)
    }

    private mutating func endTag() throws(Failure) -> Token {
        let qualified = try name()
        skipSpace()
        guard take(">"), let last = open.popLast(), last.qualified == qualified else {
            throw failure("</\(String(decoding: qualified, as: UTF8.self))> closes nothing")
        }
        return .end(name: last.name)
    }

    private mutating func name() throws(Failure) -> ArraySlice<UInt8> {
        let start = position
        while position < bytes.count, Self.isName(bytes[position]) { position += 1 }
        guard start < position, !"-.0123456789".utf8.contains(bytes[start]) else { throw failure("a malformed tag") }
        return bytes[start..<position]
    }

    private static func isName(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || byte >= 0x80 || "_-.:".utf8.contains(byte)
    }

    @discardableResult
    private mutating func skipSpace() -> Bool {
        let start = position
        while position < bytes.count, Self.isSpace(bytes[position]) { position += 1 }
        return position > start
    }

    private mutating func quoted() throws(Failure) -> String {
        guard position < bytes.count, "\"'".utf8.contains(bytes[position]) else {
            throw failure("a value without quotes")
        }
        let quote = bytes[position]
        position += 1
        let value = try text(until: quote)
        guard position < bytes.count else { throw failure("ends within a value") }
        position += 1
        return value
    }

    // MARK: Text

    private mutating func text(until end: UInt8) throws(Failure) -> String {
        var text: [UInt8] = []
        while position < bytes.count, bytes[position] != end {
            let byte = bytes[position]
            if byte == UInt8(ascii: "<") { throw failure("a < within a value") }
            if byte == UInt8(ascii: "&") {
                text += try reference()
            } else if Self.isControl(byte) {
                throw failure("a control character")
            } else {
                text.append(byte)
                position += 1
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    static func isSpace(_ byte: UInt8) -> Bool { [0x20, 9, 10, 13].contains(byte) }

    private static func isControl(_ byte: UInt8) -> Bool { byte < 0x20 && !isSpace(byte) }

    private static let entities = ["lt": "<", "gt": ">", "amp": "&", "quot": "\"", "apos": "'"]

    private mutating func reference() throws(Failure) -> [UInt8] {
        let rest = bytes[(position + 1)...].prefix(12)
        guard let length = rest.firstIndex(of: UInt8(ascii: ";")).map({ $0 - position - 1 }) else {
            throw failure("a single &")
        }
        let name = String(decoding: rest.prefix(length), as: UTF8.self)
        position += length + 2
        if let known = Self.entities[name] { return Array(known.utf8) }
        let isHexadecimal = name.hasPrefix("#x")
        let digits = name.dropFirst(isHexadecimal ? 2 : 1)
        // `UInt32` would accept a sign, too.
        let isNumber = name.hasPrefix("#") && digits.utf8.allSatisfy { $0.hexadecimalDigit != nil }
        let number = isNumber ? UInt32(digits, radix: isHexadecimal ? 16 : 10) : nil
        guard let number, number >= 0x20 || [9, 10, 13].contains(number), let scalar = Unicode.Scalar(number) else {
            throw failure("the unknown entity &\(name);")
        }
        return Array(String(scalar).utf8)
    }

    /// Returns a failure with the line number of the current position.
    func failure(_ message: String) -> Failure {
        Failure(line: 1 + bytes[..<min(position, bytes.count)].count { $0 == 10 }, message: message)
    }
}
