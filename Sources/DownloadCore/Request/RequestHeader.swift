/// A header field that the user adds to the request. The value of a secret field is never stored.
public struct RequestHeader: Sendable, Equatable {
    /// The name of the field.
    public let name: String
    /// The value of the field. Nil if it is a secret that was not stored and must be given again.
    public let value: String?

    /// Makes a header field.
    public init(name: String, value: String?) {
        self.name = name
        self.value = value
    }

    /// Reads `Name: value` as curl's `-H` does, where `Name;` sends an empty value. Nil if the text is not a header
    /// field (RFC 9110 sections 5.1 and 5.5), or contains a line break or another control character.
    public init?(_ text: String) {
        guard text.utf8.allSatisfy({ ($0 >= 0x20 && $0 != 0x7F) || $0 == UInt8(ascii: "\t") }) else { return nil }
        guard let separator = text.utf8.firstIndex(where: { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ";") }) else {
            return nil
        }
        let name = text.utf8[..<separator]
        let value = text.utf8[separator...].dropFirst().trimmingWhitespace()
        guard !name.isEmpty, name.allSatisfy(Self.isTokenByte) else { return nil }
        if text.utf8[separator] == UInt8(ascii: ";"), !value.isEmpty { return nil }
        self.init(name: String(Substring(name)), value: String(Substring(value)))
    }

    /// Whether the field would change where the request or its connection ends (RFC 9112 sections 6 and 9.6), so that
    /// the server would take the next request on the connection for something else. libcurl sets these fields.
    package var changesFraming: Bool {
        switch name.lowercased() {
        case "content-length", "transfer-encoding": true
        case "connection": !["", "close", "keep-alive"].contains(value?.lowercased())
        default: false
        }
    }

    /// Whether the field carries credentials, or looks as if it did. In doubt, asking for the value again is better
    /// than storing a secret.
    public var isSecret: Bool {
        guard !Self.isSecretName(name), let value else { return true }
        // In any other field, a value that begins with an authentication scheme is a secret, and so is a URL with a
        // password.
        let lower = value.utf8.lowercasedASCII
        return ["basic ", "bearer ", "digest ", "token "].contains { lower.hasPrefix($0) }
            || value.contains("://") && value.utf8.contains(UInt8(ascii: "@"))
    }

    /// Returns whether a field or URL parameter of this name usually carries credentials.
    package static func isSecretName(_ name: String) -> Bool {
        let lower = name.lowercased()
        return lower == "sig"
            || [
                "auth", "cookie", "token", "secret", "passw", "passphrase", "credential", "key", "session",
                "signature", "jwt", "bearer",
            ].contains { lower.contains($0) }
    }

    /// Returns whether the byte may occur in a token (RFC 9110 section 5.6.2).
    static func isTokenByte(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
}

extension RequestHeader: Codable {
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(name, forKey: .name)
        if !isSecret { try values.encodeIfPresent(value, forKey: .value) }
    }
}

/// Descriptions without secrets, for all text that prints a request.
extension RequestHeader: CustomStringConvertible, CustomReflectable {
    public var description: String { "\(name): \(isSecret ? "(hidden)" : value ?? "(not stored)")" }
    public var customMirror: Mirror { Mirror(self, children: ["field": description]) }
}
