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

    /// The document as text. An array of bytes grows several times as fast as `Data`.
    var data: Data {
        var text: [UInt8] = []
        write(to: &text)
        return Data(text)
    }

    private func write(to text: inout [UInt8]) {
        switch self {
        case .null: text += "null".utf8
        case .bool(let value): text += (value ? "true" : "false").utf8
        case .integer(let value): text += String(value).utf8
        case .number(let value): text += (value.isFinite ? String(value) : "null").utf8
        case .string(let value): JSONText.append(value, to: &text)
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
                JSONText.append(field.key, to: &text)
                text.append(UInt8(ascii: ":"))
                field.value.write(to: &text)
            }
            text.append(UInt8(ascii: "}"))
        }
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
