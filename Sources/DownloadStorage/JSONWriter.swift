/// A writer that writes, field by field, the JSON of the values that every saved row has. The text is the same as the
/// text of ``DirectEncoder``. The containers and boxes of Codable would cost more than the rest of a save.
struct JSONWriter {
    private var bytes: [UInt8] = []
    /// Whether the open object or array has no element yet.
    private var isFirst = true

    /// Returns the text of one object, whose fields `fields` writes.
    static func object(_ fields: (inout JSONWriter) -> Void) -> String {
        text { $0.object(fields) }
    }

    static func text(_ content: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        writer.bytes.reserveCapacity(1024)
        content(&writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    mutating func object(_ fields: (inout JSONWriter) -> Void) {
        open("{")
        fields(&self)
        close("}")
    }

    mutating func array<Element>(_ elements: some Sequence<Element>, _ write: (inout JSONWriter, Element) -> Void) {
        open("[")
        for element in elements {
            next()
            write(&self, element)
        }
        close("]")
    }

    /// Writes an array whose elements `elements` writes.
    mutating func array(_ elements: (inout JSONWriter) -> Void) {
        open("[")
        elements(&self)
        close("]")
    }

    mutating func element(_ number: some FixedWidthInteger) {
        next()
        value(number)
    }

    mutating func element(_ text: String) {
        next()
        value(text)
    }

    mutating func element(object fields: (inout JSONWriter) -> Void) {
        next()
        object(fields)
    }

    private mutating func open(_ opener: Unicode.Scalar) {
        bytes.append(UInt8(ascii: opener))
        isFirst = true
    }

    private mutating func close(_ closer: Unicode.Scalar) {
        bytes.append(UInt8(ascii: closer))
        isFirst = false
    }

    private mutating func next() {
        if !isFirst { bytes.append(UInt8(ascii: ",")) }
        isFirst = false
    }

    private mutating func key(_ key: StaticString) {
        next()
        bytes.append(UInt8(ascii: "\""))
        append(key)
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
    }

    private mutating func append(_ text: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    mutating func value(_ number: some FixedWidthInteger) {
        if number < 0 { bytes.append(UInt8(ascii: "-")) }
        var rest = UInt64(number.magnitude)
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var start = digits.endIndex
            repeat {
                start -= 1
                digits[start] = UInt8(ascii: "0") + UInt8(rest % 10)
                rest /= 10
            } while rest > 0
            bytes.append(contentsOf: digits[start...])
        }
    }

    /// Writes a number. Numbers that JSON lacks are written as words, as ``JSONText`` reads them.
    mutating func value(_ number: Double) {
        // Most durations of a transfer over a reused connection are 0.
        if number == 0, number.sign == .plus { return append("0.0") }
        if number.isFinite { return bytes += number.description.utf8 }
        value(number.isNaN ? "nan" : number < 0 ? "-inf" : "inf")
    }

    mutating func value(_ string: String) {
        var string = string
        bytes.append(UInt8(ascii: "\""))
        string.withUTF8 { text in
            if text.allSatisfy(Self.isPlain) {
                bytes.append(contentsOf: text)
            } else {
                for byte in text { escape(byte) }
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    private mutating func escape(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
        case ..<0x20: bytes += ((byte < 0x10 ? "\\u000" : "\\u00") + String(byte, radix: 16)).utf8
        default: bytes.append(byte)
        }
    }
}

extension JSONWriter {
    mutating func field(_ name: StaticString, _ flag: Bool) {
        key(name)
        append(flag ? "true" : "false")
    }

    mutating func field(_ name: StaticString, _ number: (some FixedWidthInteger)?) {
        guard let number else { return }
        key(name)
        value(number)
    }

    mutating func field(_ name: StaticString, _ number: Double) {
        key(name)
        value(number)
    }

    mutating func field(_ name: StaticString, _ string: String?) {
        guard let string else { return }
        key(name)
        value(string)
    }

    mutating func field(_ name: StaticString, object fields: (inout JSONWriter) -> Void) {
        key(name)
        object(fields)
    }

    mutating func field<Element>(
        _ name: StaticString, _ elements: some Sequence<Element>, _ write: (inout JSONWriter, Element) -> Void
    ) {
        key(name)
        array(elements, write)
    }
}
