/// A header field the user adds to the request. The value of a secret one never reaches the store.
public struct RequestHeader: Sendable, Equatable {
    public let name: String
    /// Nil: a secret that was not stored and must be given again.
    public let value: String?

    public init(name: String, value: String?) {
        self.name = name
        self.value = value
    }

    /// Reads `Name: value` as curl's `-H` does (`Name;` sends an empty value); nil when it is not a header field
    /// (RFC 9110 section 5.1), or holds a line break.
    public init?(_ text: String) {
        guard !text.utf8.contains(where: { $0 == 13 || $0 == 10 || $0 == 0 }) else { return nil }
        guard let separator = text.firstIndex(where: { $0 == ":" || $0 == ";" }) else { return nil }
        let name = text[..<separator]
        let value = text[text.index(after: separator)...].drop { $0 == " " || $0 == "\t" }
        guard !name.isEmpty, name.utf8.allSatisfy(Self.isTokenByte) else { return nil }
        if text[separator] == ";", !value.isEmpty { return nil }
        self.init(name: String(name), value: String(value))
    }

    /// True for fields that carry credentials, or look as if they did.
    public var isSecret: Bool {
        let lower = name.lowercased()
        return ["authorization", "cookie", "token", "secret", "password", "credential", "api-key", "apikey", "session"]
            .contains { lower.contains($0) }
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}

extension RequestHeader: Codable {
    private enum Key: String, CodingKey { case name, value }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        name = try values.decode(String.self, forKey: .name)
        value = try values.decodeIfPresent(String.self, forKey: .value)
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(name, forKey: .name)
        if !isSecret { try values.encodeIfPresent(value, forKey: .value) }
    }
}
