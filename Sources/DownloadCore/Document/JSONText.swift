import Foundation

/// The JSON that dlm stores and reads again. Numbers that JSON lacks are written as words (`"inf"`), because a time
/// limit may be infinite.
package enum JSONText {
    private static let decoder: JSONDecoder = {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return decoder
    }()

    package static func encode(_ value: some Encodable) throws -> String { try DirectEncoder.encode(value) }

    package static func decode<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
        try decode(type, data: Data(text.utf8))
    }

    package static func decode<Value: Decodable>(_ type: Value.Type, data: Data) throws -> Value {
        try decoder.decode(type, from: data)
    }

    /// Appends a string with its quotes.
    package static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        if text.utf8.allSatisfy(isPlain) {
            bytes += text.utf8
        } else {
            for byte in text.utf8 { if isPlain(byte) { bytes.append(byte) } else { bytes += escaped(byte) } }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    private static func escaped(_ byte: UInt8) -> [UInt8] {
        byte >= 0x20 ? [UInt8(ascii: "\\"), byte] : Array("\\u\(byte.padded(4, radix: 16))".utf8)
    }
}
