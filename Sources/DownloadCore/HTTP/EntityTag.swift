/// An ETag (RFC 9110 section 8.8.3).
public struct EntityTag: Codable, Sendable, Hashable {
    public let isWeak: Bool
    /// Without the quotes.
    public let opaque: String

    public init(opaque: String, isWeak: Bool = false) {
        self.opaque = opaque
        self.isWeak = isWeak
    }

    /// Reads a field value; nil when it is malformed, which makes it no validator at all.
    public init?(fieldValue: String) {
        var rest = fieldValue[...]
        let weak = rest.hasPrefix("W/")
        if weak { rest = rest.dropFirst(2) }
        guard rest.utf8.count >= 2, rest.first == "\"", rest.last == "\"" else { return nil }
        let opaque = rest.dropFirst().dropLast()
        guard opaque.utf8.allSatisfy({ $0 == 0x21 || (0x23...0x7E).contains($0) || $0 >= 0x80 }) else { return nil }
        self.init(opaque: String(opaque), isWeak: weak)
    }

    public var fieldValue: String { "\(isWeak ? "W/" : "")\"\(opaque)\"" }

    /// Strong comparison (RFC 9110 section 8.8.3.2): both strong and the same.
    public func isStrongly(_ other: EntityTag) -> Bool { !isWeak && !other.isWeak && opaque == other.opaque }
}
