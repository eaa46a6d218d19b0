import HTTPTypes

/// The value of a `Content-Range` field, in a 206 or 416 answer (RFC 9110 section 14.4). An unclear field is refused,
/// because bytes at a doubtful offset are worse than none.
package enum ContentRange: Equatable, Sendable {
    /// `bytes 0-99/200` is `0..<100` of 200; the total is nil for `*`.
    case satisfied(Range<Int64>, total: Int64?)
    /// `bytes */200`: no part of the requested range exists.
    case unsatisfied(total: Int64?)

    /// Reads a field value. Returns nil if it is malformed, contradicts itself or does not fit in 63 bits.
    package init?(fieldValue: String) {
        var fieldValue = fieldValue
        guard let range = fieldValue.withUTF8({ Self.read($0.trimmingWhitespace()) }) else { return nil }
        self = range
    }

    /// Reads the field of an answer. Returns nil if the field is missing or malformed.
    init?(head: ResponseHead) {
        guard let value = head.fields.value(.contentRange) else { return nil }
        self.init(fieldValue: value)
    }

    /// The size of the file, if an answer with this field has the whole file.
    var sizeOfWhole: Int64? {
        if case .satisfied(let range, let total?) = self, range == 0..<total { total } else { nil }
    }

    /// Returns whether the part of an answer ends behind the total size that the answer states.
    package static func exceedsTotal(_ head: ResponseHead) -> Bool {
        guard let value = head.fields.value(.contentRange), ContentRange(fieldValue: value) == nil,
            let slash = value.lastIndex(of: "/"), value[slash...].dropFirst().utf8.decimal != nil
        else { return false }
        // Without the total, nothing else is wrong.
        return ContentRange(fieldValue: value[..<slash] + "/*") != nil
    }

    private static func read(_ value: Slice<UnsafeBufferPointer<UInt8>>) -> ContentRange? {
        let unit = value.prefix { $0 != UInt8(ascii: " ") }
        guard unit.elementsEqual("bytes".utf8) || unit.lowercasedASCII == "bytes" else { return nil }
        let rest = value.dropFirst(unit.count + 1)
        guard let slash = rest.firstIndex(of: UInt8(ascii: "/")), let total = total(rest[(slash + 1)...]) else {
            return nil
        }
        let range = rest[..<slash]
        if range.elementsEqual("*".utf8) { return .unsatisfied(total: total) }
        guard let dash = range.firstIndex(of: UInt8(ascii: "-")), let first = range[..<dash].decimal,
            let last = range[(dash + 1)...].decimal, first <= last, last < total ?? .max
        else { return nil }
        return .satisfied(first..<last + 1, total: total)
    }

    /// Parses the total. The outer optional is nil if the total is malformed, and the inner one is nil for `*`.
    private static func total(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Int64?? {
        if text.elementsEqual("*".utf8) { return .some(nil) }
        return text.decimal.map { .some($0) }
    }
}
