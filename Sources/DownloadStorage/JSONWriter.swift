/// A writer of the JSON arrays that each small file needs, and of arrays of numbers and texts. The containers and boxes of
/// Codable would cost more than the rest of a save, and an array of bytes checks its room and its owner at each byte.
/// Other values are written by ``JSONText``.
struct JSONWriter: ~Copyable {
    private var bytes = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 1024)
    private var count = 0
    /// Whether the open array has no element yet.
    private var isFirst = true

    deinit { bytes.deallocate() }

    static func text(_ content: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        content(&writer)
        return String(decoding: writer.bytes[..<writer.count], as: UTF8.self)
    }

    /// Returns the text of an array of numbers.
    static func array(_ numbers: [Int64]) -> String { text { json in json.array(numbers) { $0.value($1) } } }

    // MARK: Bytes

    /// Returns the place for the next bytes. The caller writes all of them.
    private mutating func place(for more: Int) -> UnsafeMutableBufferPointer<UInt8> {
        if bytes.count - count < more { grow(by: more) }
        defer { count += more }
        return UnsafeMutableBufferPointer(rebasing: bytes[count..<count + more])
    }

    private mutating func grow(by more: Int) {
        let larger = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(2 * bytes.count, count + more))
        _ = larger.update(fromContentsOf: bytes[..<count])
        bytes.deallocate()
        bytes = larger
    }

    private mutating func append(_ byte: UInt8) {
        if count == bytes.count { grow(by: 1) }
        bytes[count] = byte
        count += 1
    }

    private mutating func append(_ text: UnsafeBufferPointer<UInt8>) {
        _ = place(for: text.count).update(fromContentsOf: text)
    }

    private mutating func append(_ text: StaticString) {
        append(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Writes a text between quotes.
    /// - Parameter text: a text without characters that must be escaped.
    private mutating func append(quoted text: UnsafeBufferPointer<UInt8>) {
        let end = text.count + 1
        let place = place(for: end + 1)
        place[0] = UInt8(ascii: "\"")
        _ = place[1...].update(fromContentsOf: text)
        place[end] = UInt8(ascii: "\"")
    }

    // MARK: Values

    mutating func array<Element>(_ elements: some Sequence<Element>, _ write: (inout JSONWriter, Element) -> Void) {
        open()
        for element in elements {
            next()
            write(&self, element)
        }
        close()
    }

    /// Writes an array whose elements `elements` writes.
    mutating func array(_ elements: (inout JSONWriter) -> Void) {
        open()
        elements(&self)
        close()
    }

    mutating func element(_ number: (some FixedWidthInteger)?) {
        next()
        if let number { value(number) } else { append("null") }
    }

    mutating func element(_ number: Double) {
        next()
        value(number)
    }

    mutating func element(_ flag: Bool) {
        next()
        append(flag ? "true" : "false")
    }

    mutating func element(_ text: String?) {
        next()
        if let text { value(text) } else { append("null") }
    }

    private mutating func open() {
        append(UInt8(ascii: "["))
        isFirst = true
    }

    private mutating func close() {
        append(UInt8(ascii: "]"))
        isFirst = false
    }

    private mutating func next() {
        if !isFirst { append(UInt8(ascii: ",")) }
        isFirst = false
    }

    mutating func value(_ number: some FixedWidthInteger) {
        if number < 0 { append(UInt8(ascii: "-")) }
        let magnitude = UInt64(number.magnitude)
        var length = 1
        var rest = magnitude / 10
        while rest > 0 {
            length += 1
            rest /= 10
        }
        append(magnitude, digits: length)
    }

    /// Writes the last `length` decimal digits of a number.
    private mutating func append(_ number: UInt64, digits length: Int) {
        if bytes.count - count < length { grow(by: length) }
        var rest = number
        for place in stride(from: count + length - 1, through: count, by: -1) {
            bytes[place] = UInt8(ascii: "0") + UInt8(rest % 10)
            rest /= 10
        }
        count += length
    }

    /// Writes a number. Numbers that JSON lacks are written as words, as ``JSONText`` reads them.
    mutating func value(_ number: Double) {
        // Most durations of a transfer over a reused connection are 0.
        if number == 0, number.sign == .plus { return append("0.0") }
        // The times that libcurl measures are whole microseconds. Doubles keep numbers of 14 digits apart, so the
        // shortest text of such a number has no other digits.
        if number >= 1e-4, number < 1e8 {
            let microseconds = (number * 1e6).rounded()
            if microseconds / 1e6 == number { return append(microseconds: UInt64(microseconds)) }
        }
        guard number.isFinite else { return value(number.isNaN ? "nan" : number < 0 ? "-inf" : "inf") }
        var text = number.description
        text.withUTF8 { append($0) }
    }

    /// Writes the number of seconds, with at least one digit after the point and no needless zeros.
    private mutating func append(microseconds: UInt64) {
        value(microseconds / 1_000_000)
        append(UInt8(ascii: "."))
        var (fraction, length) = (microseconds % 1_000_000, 6)
        while length > 1, fraction % 10 == 0 {
            fraction /= 10
            length -= 1
        }
        append(fraction, digits: length)
    }

    mutating func value(_ string: String) {
        var string = string
        string.withUTF8 { text in
            if Self.isPlain(text) { return append(quoted: text) }
            append(UInt8(ascii: "\""))
            for byte in text { escape(byte) }
            append(UInt8(ascii: "\""))
        }
    }

    /// Whether no byte must be escaped. The loop does not end early, so the compiler can test many bytes at once.
    private static func isPlain(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var escaped: UInt8 = 0
        for byte in text {
            escaped |= byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") ? 1 : 0
        }
        return escaped == 0
    }

    private mutating func escape(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            append(UInt8(ascii: "\\"))
            append(byte)
        case ..<0x20:
            append("\\u00")
            append(Self.digit(byte >> 4))
            append(Self.digit(byte & 0xF))
        default: append(byte)
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
