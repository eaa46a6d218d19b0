import Foundation

/// A value that `--json` prints. The text output is made from the same value. Later versions of dlm may add fields, but
/// never remove or change a field. docs/json-schema.json describes the fields.
protocol Document: Encodable, Sendable {
    var version: Int { get }
}

extension Document {
    /// The document as one line of JSON. Characters that could harm a terminal are escaped.
    var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        do {
            return Escaping.json(String(decoding: try encoder.encode(self), as: UTF8.self))
        } catch {
            // This happens only for a number that JSON cannot express, such as infinity.
            return #"{"version":1,"error":"cannot be encoded"}"#
        }
    }
}

extension Console {
    func print(_ document: some Document, _ options: OutputOptions, text: () -> [String]) {
        if options.json { return print(document.json) }
        if !options.quiet { for line in text() { print(line) } }
    }
}
