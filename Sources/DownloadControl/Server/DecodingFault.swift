import Foundation

extension DecodingError {
    /// The description of the error and its place in the JSON. The content at that place is left out, because it may be
    /// a secret.
    /// - Parameter body: The JSON text that was decoded.
    func words(about body: Data) -> String {
        switch self {
        case .typeMismatch(let type, let context): "\(Self.place(context)): not \(Self.name(of: type))"
        case .valueNotFound(_, let context): "\(Self.place(context)): missing"
        case .keyNotFound(let key, let context): "\(Self.place(context, key)): missing"
        case .dataCorrupted(let context):
            context.codingPath.isEmpty ? Self.words(aboutNumbersOf: body) : "\(Self.place(context)): not a valid value"
        @unknown default: "the body cannot be understood"
        }
    }

    /// Foundation's decoder reports a number that does not fit into an integer as a fault of the whole document. This
    /// method looks for the number.
    private static func words(aboutNumbersOf body: Data) -> String {
        guard let document = try? JSONSerialization.jsonObject(with: body, options: .fragmentsAllowed) else {
            return "the body is not JSON"
        }
        guard let place = place(ofFractionIn: document, at: "") else { return "the body cannot be understood" }
        return "\(place.isEmpty ? "the body" : place): not a whole number, or too large"
    }

    /// Returns the place of the first number that is not whole or does not fit into 64 bits.
    private static func place(ofFractionIn value: Any, at place: String) -> String? {
        switch value {
        case let object as [String: Any]:
            object.sorted { $0.key < $1.key }.lazy.compactMap { key, value in
                Self.place(ofFractionIn: value, at: place.isEmpty ? key : "\(place).\(key)")
            }.first
        case let array as [Any]:
            array.enumerated().lazy.compactMap { Self.place(ofFractionIn: $1, at: "\(place)[\($0)]") }.first
        case let number as NSNumber: Int64(exactly: number) == nil ? place : nil
        default: nil
        }
    }

    private static func place(_ context: Context, _ key: (any CodingKey)? = nil) -> String {
        let path = context.codingPath + (key.map { [$0] } ?? [])
        if path.isEmpty { return "the body" }
        return path.reduce(into: "") { text, key in
            if let index = key.intValue { return text += "[\(index)]" }
            text += text.isEmpty ? key.stringValue : ".\(key.stringValue)"
        }
    }

    /// Returns the name that JSON has for the values of a type (RFC 8259 section 3).
    private static func name(of type: Any.Type) -> String {
        switch type {
        case is String.Type: "a string"
        case is Bool.Type: "true or false"
        case is any BinaryInteger.Type: "a whole number"
        case is any BinaryFloatingPoint.Type: "a number"
        case is any DecodedArray.Type: "an array"
        default: "an object"
        }
    }
}

/// The arrays, among the types that a decoder names in its errors.
private protocol DecodedArray {}

extension Array: DecodedArray {}
