import DownloadCore

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

    static func array(_ numbers: [Int64]) -> String { text { json in json.array(numbers) { $0.value($1) } } }

    static func array(_ ids: [DownloadID]) -> String { array(ids.map(\.rawValue)) }

    // MARK: Bytes

    private mutating func makeRoom(for more: Int) {
        guard bytes.count - count < more else { return }
        let larger = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(2 * bytes.count, count + more))
        _ = larger.update(fromContentsOf: bytes[..<count])
        bytes.deallocate()
        bytes = larger
    }

    private mutating func append(_ byte: UInt8) {
        makeRoom(for: 1)
        bytes[count] = byte
        count += 1
    }

    private mutating func append(_ text: UnsafeBufferPointer<UInt8>) {
        makeRoom(for: text.count)
        _ = bytes[count...].update(fromContentsOf: text)
        count += text.count
    }

    private mutating func append(_ text: StaticString) {
        append(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    // MARK: Values

    mutating func array<Element>(_ elements: some Sequence<Element>, _ write: (inout JSONWriter, Element) -> Void) {
        array { json in
            for element in elements {
                json.next()
                write(&json, element)
            }
        }
    }

    /// Writes an array whose elements `elements` writes.
    mutating func array(_ elements: (inout JSONWriter) -> Void) {
        append(UInt8(ascii: "["))
        isFirst = true
        elements(&self)
        append(UInt8(ascii: "]"))
        isFirst = false
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
        makeRoom(for: length)
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
        let isWritten = string.withUTF8 { text in
            guard Self.isPlain(text) else { return false }
            append(UInt8(ascii: "\""))
            append(text)
            append(UInt8(ascii: "\""))
            return true
        }
        if isWritten { return }
        var quoted: [UInt8] = []
        JSONText.append(string, to: &quoted)
        quoted.withUnsafeBufferPointer { append($0) }
    }

    /// Whether no byte must be escaped. The loop does not end early, so the compiler can test many bytes at once.
    private static func isPlain(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var escaped: UInt8 = 0
        for byte in text {
            escaped |= byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") ? 1 : 0
        }
        return escaped == 0
    }
}
