import DownloadCore
import Foundation

/// The coder for the JSON of the API. Numbers that JSON lacks are written as words (`"inf"`), and dates for users as
/// ISO 8601 in UTC.
enum WireCoder {
    /// The version of the API, which every response names.
    static let version = SessionStatus.apiVersion

    private static let encoder: JSONEncoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return encoder
    }()

    static func encode(_ value: some Encodable) throws -> Data { try encoder.encode(value) }

    static func decode<Value: Decodable>(_ type: Value.Type, _ data: Data) throws -> Value {
        try JSONText.decode(type, data: data)
    }

    /// Returns the date as text, in UTC, to the millisecond.
    static func text(_ date: Date) -> String { TextDate(wrappedValue: date).text }
}
