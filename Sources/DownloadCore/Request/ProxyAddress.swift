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
    /// proxy at all. As in libcurl, `socks5h://localhost/PATH` is a proxy with a Unix socket, and other paths do not
    /// count.
    package static func parse(_ text: String) throws(ParseError) -> ProxyAddress {
        if text.isEmpty { return ProxyAddress(url: "") }
        let mark = text.range(of: "://")
        let scheme = mark.map { text[..<$0.lowerBound].lowercased() } ?? "http"
        // Desktops write `socks` into all_proxy, which libcurl takes for SOCKS 4.
        guard schemes.contains(scheme) || scheme == "socks" else { throw .unknownScheme }
        let rest = text[(mark?.upperBound ?? text.startIndex)...]
        let authority = rest.prefix { $0 != "/" }
        let at = authority.lastIndex(of: "@")
        var host = at.map { authority[authority.index(after: $0)...] } ?? authority
        guard isHost(host) else { throw .badHost }
        if host.last == ":" { host.removeLast() }
        let socket = scheme.hasPrefix("socks") && host == "localhost" ? rest[authority.endIndex...] : ""
        return ProxyAddress(
            url: "\(scheme)://\(host)\(socket.count > 1 ? socket : "")",
            credential: try at.flatMap { (at) throws(ParseError) in try credential(authority[..<at]) })
    }

    /// Returns whether a text is the host of a proxy, with or without a port.
    private static func isHost(_ text: Substring) -> Bool {
        let isBracketed = text.hasPrefix("[") && text.contains("]")
        let name = isBracketed ? text.prefix { $0 != "]" } + "]" : text.prefix { $0 != ":" }
        let rest = text.dropFirst(name.count)
        // The zone of an IPv6 address begins with `%25` (RFC 6874). libcurl takes names in any language.
        let isClean = text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && !"\\?#".utf8.contains($0) }
        if name.isEmpty || !isClean || text.contains("%") && !isBracketed { return false }
        return rest.isEmpty || rest == ":" || rest.first == ":" && (UInt16(rest.dropFirst()).map { $0 > 0 } ?? false)
    }

    private static func credential(_ text: Substring) throws(ParseError) -> Credential? {
        if text.isEmpty { return nil }
        let name = text.prefix { $0 != ":" }
        guard let user = decoded(name), let password = decoded(text.dropFirst(name.count + 1)) else {
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
