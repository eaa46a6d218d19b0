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
        try decoder.decode(type, from: Data(text.utf8))
    }
}
