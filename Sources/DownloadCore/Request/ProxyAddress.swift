import Foundation

/// A proxy. The password for it is never stored.
public struct ProxyAddress: Codable, Sendable, Equatable {
    /// The URL of the proxy, without user name and password; empty for no proxy at all.
    public let url: String
    /// The name and password for the proxy.
    public var credential: Credential?

    /// Makes a proxy.
    public init(url: String, credential: Credential? = nil) {
        self.url = url
        self.credential = credential
    }
}

extension ProxyAddress {
    package enum ParseError: Error {
        case unknownScheme, badHost, badCredential

        package var words: String {
            switch self {
            case .unknownScheme: "unknown scheme; give \(schemes.joined(separator: ", "))"
            case .badHost: "the host or the port is missing or wrong; give HOST:PORT"
            case .badCredential: "the name and password cannot be read; give NAME:PASSWORD@HOST:PORT"
            }
        }
    }

    private static let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]

    /// Reads `[SCHEME://][NAME:PASSWORD@]HOST[:PORT]`, with the scheme `http` if it is left out. An empty text means no
    /// proxy at all.
    package static func parse(_ text: String) throws(ParseError) -> ProxyAddress {
        if text.isEmpty { return ProxyAddress(url: "") }
        let mark = text.range(of: "://")
        let scheme = mark.map { text[..<$0.lowerBound].lowercased() } ?? "http"
        // Desktops write `socks` into all_proxy, which libcurl takes for SOCKS 4.
        guard schemes.contains(scheme) || scheme == "socks" else { throw .unknownScheme }
        let authority = text[(mark?.upperBound ?? text.startIndex)...].prefix { $0 != "/" }
        let at = authority.lastIndex(of: "@")
        let host = at.map { authority[authority.index(after: $0)...] } ?? authority
        guard isHost(host) else { throw .badHost }
        var proxy = ProxyAddress(url: "\(scheme)://\(host)")
        if let at { proxy.credential = try credential(authority[..<at]) }
        return proxy
    }

    /// Returns whether a text is the host of a proxy, with or without a port.
    private static func isHost(_ text: Substring) -> Bool {
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !"\\?#%".utf8.contains($0) }) else { return false }
        let isBracketed = text.hasPrefix("[") && text.contains("]")
        let name = isBracketed ? text.prefix { $0 != "]" } + "]" : text.prefix { $0 != ":" }
        let rest = text.dropFirst(name.count)
        if name.isEmpty { return false }
        return rest.isEmpty || rest.first == ":" && (UInt16(rest.dropFirst()).map { $0 > 0 } ?? false)
    }

    private static func credential(_ text: Substring) throws(ParseError) -> Credential {
        let name = text.prefix { $0 != ":" }
        guard let user = decoded(name), !user.isEmpty, let password = decoded(text.dropFirst(name.count + 1)) else {
            throw .badCredential
        }
        return Credential(user: user, password: password)
    }

    /// Decodes a text. As in libcurl, a percent sign that begins no encoded byte stands for itself.
    private static func decoded(_ text: Substring) -> String? {
        let pieces = text.split(separator: "%", omittingEmptySubsequences: false)
        let encoded = pieces.dropFirst().map { piece in
            let digits = piece.prefix(2)
            return digits.count == 2 && digits.allSatisfy { $0.isASCII && $0.isHexDigit } ? "%\(piece)" : "%25\(piece)"
        }
        return ((pieces.first.map(String.init) ?? "") + encoded.joined()).removingPercentEncoding
    }
}
