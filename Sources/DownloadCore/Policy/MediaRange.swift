/// A media type such as `application/zip`, or a range of types such as `image/*` (RFC 9110 section 12.5.1).
package struct MediaRange: Sendable, Equatable {
    /// The type in lower case, or `*` for any type.
    package let type: String
    /// The part after the slash, in lower case, or `*` for any subtype.
    package let subtype: String

    /// Returns nil if the text is not a media range. Parameters are not accepted.
    package init?(_ text: String) {
        let parts = text.utf8.lowercasedASCII.utf8.split(
            separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(RequestHeader.isTokenByte) }) else {
            return nil
        }
        (type, subtype) = (String(Substring(parts[0])), String(Substring(parts[1])))
        guard type != "*" || subtype == "*", !type.dropFirst().contains("*"), !subtype.dropFirst().contains("*") else {
            return nil
        }
    }

    /// - Parameter mediaType: A media type in lower case, without parameters.
    package func contains(_ mediaType: String) -> Bool {
        let parts = mediaType.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return false }
        return (type == "*" || parts[0].elementsEqual(type.utf8))
            && (subtype == "*" || parts[1].elementsEqual(subtype.utf8))
    }
}

extension MediaRange: CustomStringConvertible {
    package var description: String { "\(type)/\(subtype)" }
}

extension MediaRange: Codable {
    package init(from decoder: any Decoder) throws {
        guard let range = Self(try String(from: decoder)) else { throw decoder.failure("no media range") }
        self = range
    }

    package func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }
}
