import Foundation

/// A value of `--json`; the text output is made from the same one. Fields are only ever added.
protocol Document: Encodable, Sendable {
    /// Of the schema.
    var version: Int { get }
}

extension Document {
    /// One line, with what could harm a terminal escaped.
    var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        do {
            return Escaping.json(String(decoding: try encoder.encode(self), as: UTF8.self))
        } catch {
            // Only a number that JSON lacks (infinity) gets here.
            return #"{"version":1,"error":"cannot be encoded"}"#
        }
    }
}
