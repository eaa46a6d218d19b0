import Foundation

/// An absolute http or https URL without user information or fragment.
public struct SourceURL: Sendable, Hashable {
    public let string: String
    public let scheme: String
    /// Lower-case.
    public let host: String
    public let port: Int
    /// Percent-encoded, with the leading slash.
    public let path: String

    /// `scheme://host:port`, what a connection and its manners belong to.
    public var origin: String { "\(scheme)://\(host):\(port)" }

    public enum ParseError: Error, Equatable {
        case malformed
        case unsupportedScheme(String)
        case missingScheme
    }

    /// Reads what a user or a server wrote; user information comes back apart, so that it is never stored with the URL.
    public static func parse(_ text: String) -> Result<(url: SourceURL, credential: Credential?), ParseError> {
        let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !trimmed.isEmpty, trimmed.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else {
            return .failure(.malformed)
        }
        guard let colon = trimmed.range(of: "://") else { return .failure(.missingScheme) }
        let scheme = trimmed[..<colon.lowerBound].lowercased()
        guard let first = scheme.unicodeScalars.first, first.properties.isAlphabetic,
            scheme.unicodeScalars.allSatisfy({ $0.isASCII && ($0.properties.isAlphabetic || "+-.0123456789".unicodeScalars.contains($0)) })
        else { return .failure(.malformed) }
        guard scheme == "http" || scheme == "https" else { return .failure(.unsupportedScheme(scheme)) }
        guard let url = URL(string: trimmed), var parts = URLComponents(url: url, resolvingAgainstBaseURL: true),
            let host = parts.host, !host.isEmpty, parts.port.map({ (1...65535).contains($0) }) ?? true
        else { return .failure(.malformed) }
        let credential = parts.user.map { Credential(user: $0, password: parts.password ?? "") }
        parts.user = nil
        parts.password = nil
        parts.fragment = nil
        parts.scheme = scheme
        parts.host = host.lowercased()
        if parts.percentEncodedPath.isEmpty { parts.percentEncodedPath = "/" }
        guard let string = parts.string else { return .failure(.malformed) }
        let result = SourceURL(
            string: string, scheme: scheme, host: host.lowercased(),
            port: parts.port ?? (scheme == "https" ? 443 : 80), path: parts.percentEncodedPath)
        return .success((result, credential))
    }
}

extension SourceURL: Codable {
    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard case .success(let parsed) = Self.parse(text) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "not a URL: \(text)"))
        }
        self = parsed.url
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(string)
    }
}

extension SourceURL: CustomStringConvertible {
    public var description: String { string }
}
