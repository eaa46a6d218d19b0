import DownloadCore
import Foundation

/// Any JSON value (RFC 8259). Integers have a case of their own, because the answer must repeat a request's `id` with
/// the same type.
enum JSONValue: Sendable, Equatable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// Reads a document.
    /// - Returns: Nil if the bytes are not JSON. Also nil if the document is nested too deeply or has too many parts,
    ///   because reading it could take seconds.
    init?(_ bytes: Data) {
        guard Self.isBounded(bytes), let value = try? JSONDecoder().decode(JSONValue.self, from: bytes) else {
            return nil
        }
        self = value
    }

    static let deepest = 32
    static let mostParts = 100_000

    /// Returns whether the document is within the limits. Counts brackets, commas and colons outside of strings.
    private static func isBounded(_ bytes: Data) -> Bool {
        var (depth, parts, isString, isEscaped) = (0, 0, false, false)
        for byte in bytes {
            if isString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isString = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isString = true
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                depth += 1
                parts += 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            case UInt8(ascii: ","), UInt8(ascii: ":"): parts += 1
            default: break
            }
            if depth > deepest || parts > mostParts { return false }
        }
        return true
    }

    /// The document as text.
    var data: Data {
        var text = Data()
        write(to: &text)
        return text
    }

    private func write(to text: inout Data) {
        switch self {
        case .null: text.append(contentsOf: "null".utf8)
        case .bool(let value): text.append(contentsOf: (value ? "true" : "false").utf8)
        case .integer(let value): text.append(contentsOf: String(value).utf8)
        case .number(let value): text.append(contentsOf: (value.isFinite ? String(value) : "null").utf8)
        case .string(let value): Self.write(value, to: &text)
        case .array(let values):
            text.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { text.append(UInt8(ascii: ",")) }
                value.write(to: &text)
            }
            text.append(UInt8(ascii: "]"))
        case .object(let fields):
            text.append(UInt8(ascii: "{"))
            for (index, field) in fields.sorted(by: { $0.key < $1.key }).enumerated() {
                if index > 0 { text.append(UInt8(ascii: ",")) }
                Self.write(field.key, to: &text)
                text.append(UInt8(ascii: ":"))
                field.value.write(to: &text)
            }
            text.append(UInt8(ascii: "}"))
        }
    }

    private static func write(_ string: String, to text: inout Data) {
        let isPlain = string.utf8.allSatisfy {
            (0x20...0x7E).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
        }
        guard !isPlain else {
            text.append(UInt8(ascii: "\""))
            text.append(contentsOf: string.utf8)
            return text.append(UInt8(ascii: "\""))
        }
        text.append(UInt8(ascii: "\""))
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text.append(contentsOf: #"\""#.utf8)
            case "\\": text.append(contentsOf: #"\\"#.utf8)
            case "\n": text.append(contentsOf: #"\n"#.utf8)
            case let control where control.value < 0x20 || control.value == 0x2028 || control.value == 0x2029:
                let digits = String(control.value, radix: 16)
                text.append(contentsOf: #"\u"#.utf8)
                text.append(contentsOf: (String(repeating: "0", count: 4 - digits.count) + digits).utf8)
            default: text.append(contentsOf: String(scalar).utf8)
            }
        }
        text.append(UInt8(ascii: "\""))
    }
}

extension JSONValue: Decodable {
    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let text = try? value.decode(String.self) {
            self = .string(text)
        } else if let fields = try? value.decode([String: JSONValue].self) {
            self = .object(fields)
        } else if let values = try? value.decode([JSONValue].self) {
            self = .array(values)
        } else if let truth = try? value.decode(Bool.self) {
            self = .bool(truth)
        } else if let number = try? value.decode(Int64.self) {
            self = .integer(number)
        } else {
            self = .number(try value.decode(Double.self))
        }
    }
}

extension JSONValue {
    var text: String? { if case .string(let text) = self { text } else { nil } }
    var fields: [String: JSONValue]? { if case .object(let fields) = self { fields } else { nil } }
    var values: [JSONValue]? { if case .array(let values) = self { values } else { nil } }

    /// Returns a value as a string, because aria2 answers numbers and booleans as strings.
    static func text(_ value: some CustomStringConvertible) -> JSONValue { .string(value.description) }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    init(stringLiteral value: String) { self = .string(value) }
    init(arrayLiteral values: JSONValue...) { self = .array(values) }
    init(dictionaryLiteral fields: (String, JSONValue)...) {
        self = .object(Dictionary(fields) { first, _ in first })
    }
}
