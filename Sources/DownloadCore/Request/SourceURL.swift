import Foundation

/// An absolute URL of a scheme that can be downloaded from, without user information or fragment.
public struct SourceURL: Sendable, Hashable {
    /// The URL as text.
    public let string: String
    /// The scheme in lower case, such as `https`.
    public let scheme: String
    /// The host in lower case and in ASCII, such as `xn--bcher-kva.example` or `[::1]`.
    public let host: String
    /// The port. If the URL has none, the default port of the scheme.
    public let port: Int
    /// The path without its query, percent-encoded, with the leading slash.
    public let path: String

    package var known: SourceScheme { SourceScheme(rawValue: scheme) ?? .http }

    package var isHTTP: Bool { scheme == "http" || scheme == "https" }

    /// The origin of the URL: `scheme://host:port`.
    public var origin: String { "\(scheme)://\(host):\(port)" }

    package func hasOrigin(of other: SourceURL) -> Bool {
        port == other.port && host == other.host && scheme == other.scheme
    }

    package static func host(of origin: String) -> String {
        guard let start = origin.range(of: "://")?.upperBound, let end = origin.lastIndex(of: ":"), start < end else {
            return origin
        }
        return String(origin[start..<end])
    }

    /// Returns the beginnings of all URLs of an origin. There are two if the port is the default port, which may be
    /// left out.
    package static func prefixes(of origin: String) -> [String] {
        let written = origin + "/"
        guard let port = SourceScheme(rawValue: String(origin.prefix { $0 != ":" }))?.port, origin.hasSuffix(":\(port)")
        else { return [written] }
        return [written, origin.dropLast("\(port)".count + 1) + "/"]
    }

    package enum ParseError: Error, Equatable {
        case malformed
        case unsupportedScheme(String)
        case missingScheme
        /// The URL ends in a slash and is not an HTTP URL. It is a folder, which cannot be fetched.
        case folder

        /// Returns the error of a request with this text as its URL.
        package func failure(of text: String) -> RequestFailure {
            switch self {
            case .malformed: .malformedURL(text)
            case .unsupportedScheme: .unsupportedScheme(text)
            case .missingScheme: .missingScheme(text)
            case .folder: .folder(text)
            }
        }
    }

    /// Parses a text from a user or a server. User information is returned separately, so that it is never stored with
    /// the URL.
    package static func parse(_ text: String) -> Result<(url: SourceURL, credential: Credential?), ParseError> {
        plain(text).map { .success(($0, nil)) } ?? parseAny(text)
    }

    static func parseAny(_ text: String) -> Result<(url: SourceURL, credential: Credential?), ParseError> {
        let result = read(text)
        if case .success(let (url, _)) = result, !isReadAgain(url) { return .failure(.malformed) }
        return result
    }

    private static func read(_ text: String) -> Result<(url: SourceURL, credential: Credential?), ParseError> {
        let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !trimmed.isEmpty, trimmed.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else {
            return .failure(.malformed)
        }
        guard let mark = trimmed.range(of: "://") else { return .failure(.missingScheme) }
        guard let name = scheme(trimmed[..<mark.lowerBound]) else { return .failure(.malformed) }
        guard let known = SourceScheme(rawValue: name) else { return .failure(.unsupportedScheme(name)) }
        let scheme = known.rawValue
        guard let written = known.rewritten(trimmed[mark.upperBound...]) else { return .failure(.malformed) }
        if known == .file { return parseFile(written) }
        guard let url = URL(string: "\(scheme)://" + escaped(written[...])),
            var parts = URLComponents(url: url, resolvingAgainstBaseURL: true),
            let host = parts.host, !host.isEmpty, isPort(parts.port, in: trimmed[mark.upperBound...]),
            let credential = credential(parts)
        else { return .failure(.malformed) }
        parts.user = nil
        parts.password = nil
        parts.fragment = nil
        parts.host = host.lowercased()
        if parts.percentEncodedPath.isEmpty { parts.percentEncodedPath = "/" }
        guard let string = parts.string, let encodedHost = parts.encodedHost else { return .failure(.malformed) }
        if !known.isHTTP {
            if parts.percentEncodedPath.hasSuffix("/") { return .failure(.folder) }
            if SourceScheme.hasControls(parts.percentEncodedPath) { return .failure(.malformed) }
        }
        let result = SourceURL(
            string: string, scheme: scheme, host: encodedHost, port: parts.port ?? known.port,
            path: parts.percentEncodedPath)
        return .success((result, credential))
    }

    /// Parses a `file` URL of this machine (RFC 8089), which has an absolute path.
    private static func parseFile(_ text: String) -> Result<(url: SourceURL, credential: Credential?), ParseError> {
        let path = escaped("/" + text.drop { $0 != "/" }.dropFirst())
        let host = text.prefix { $0 != "/" }.lowercased()
        guard text.contains("/"), host.isEmpty || host == "localhost", !SourceScheme.hasControls(path) else {
            return .failure(.malformed)
        }
        if path.hasSuffix("/") { return .failure(.folder) }
        return .success((SourceURL(string: "file://" + path, scheme: "file", host: "", port: 0, path: path), nil))
    }

    /// Returns the text, which need not be a URL, with `***` in place of everything before its last `@`. That part may
    /// be a user name and a password. A scheme and its `://` at the beginning stay.
    package static func hidingUserInformation(_ text: String) -> String {
        guard let at = text.utf8.lastIndex(of: UInt8(ascii: "@")) else { return text }
        let hidden = "***" + text[at...]
        guard let end = text[..<at].range(of: "://"), scheme(text[..<end.lowerBound]) != nil else { return hidden }
        return text[..<end.upperBound] + hidden
    }

    /// Returns the scheme in lower case, or nil if it is not a scheme (RFC 3986 section 3.1).
    private static func scheme(_ text: Substring) -> String? {
        let lower = text.utf8.lowercasedASCII
        guard let first = lower.utf8.first, first.isLowercaseLetter,
            lower.utf8.allSatisfy({ $0.isLetterOrDigit || "+-.".utf8.contains($0) })
        else { return nil }
        return lower
    }

    /// Returns everything before the path, query or fragment.
    private static func authority(_ text: Substring) -> Substring.UTF8View {
        text.utf8.prefix { !"/?#".utf8.contains($0) }
    }

    /// Returns whether the port is valid or absent. Foundation reads a number that is too large as an absent port.
    private static func isPort(_ port: Int?, in text: Substring) -> Bool {
        if let port { return (1...65535).contains(port) }
        // The text after the last colon that is not part of an IPv6 address or of user information.
        let authority = authority(text)
        let last = authority.reversed().prefix { !":]@".utf8.contains($0) }
        return last.isEmpty || authority.dropLast(last.count).last != UInt8(ascii: ":")
    }

    /// Returns whether the stored text of the URL is parsed as the same URL. From hosts with escapes or with characters
    /// beyond ASCII, Foundation makes some texts that it cannot parse again (`xn--!`, `xn--ber.t..`).
    private static func isReadAgain(_ url: SourceURL) -> Bool {
        let isPlain = url.host.utf8.allSatisfy { isPlainHost($0) } && !url.host.contains("xn--")
        return isPlain || (try? read(url.string).get().url) == url
    }

    private static func isPlainHost(_ byte: UInt8) -> Bool { isPlain(byte) && !"%!$&'()*+,;=~".utf8.contains(byte) }

    /// Escapes the characters that are not allowed in a path, query or fragment, and keeps existing escapes. Foundation
    /// would escape `%20` again in a path that also has a space.
    private static func escaped(_ text: some StringProtocol) -> String {
        let text = Substring(text)
        let authority = authority(text)
        var rest = text.utf8[authority.endIndex...]
        var result = String(Substring(authority))
        while let byte = rest.popFirst() {
            let isEscape = byte == UInt8(ascii: "%") && rest.prefix(2).compactMap(\.hexadecimalDigit).count == 2
            if isEscape || isPlain(byte) {
                result.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                result += "%" + byte.padded(2, radix: 16).uppercased()
            }
        }
        return result
    }

    /// Returns whether a byte is a `pchar` of RFC 3986, or a delimiter of path, query and fragment.
    static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "!"),
            UInt8(ascii: "$"), UInt8(ascii: "&"), UInt8(ascii: "'"), UInt8(ascii: "("), UInt8(ascii: ")"),
            UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "="),
            UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"):
            true
        default: false
        }
    }

    /// Returns the user information. The outer nil stands for user information that cannot be decoded, which is an
    /// error instead of being ignored.
    private static func credential(_ parts: URLComponents) -> Credential?? {
        guard let encodedUser = parts.percentEncodedUser else { return .some(nil) }
        guard let user = parts.user, (parts.percentEncodedPassword == nil) == (parts.password == nil) else {
            return nil
        }
        if encodedUser.isEmpty, parts.password ?? "" == "" { return .some(nil) }
        return Credential(user: user, password: parts.password ?? "")
    }
}

extension SourceURL {
    /// Parses a URL, and returns its user information separately.
    static func parsed(_ text: String) throws(DownloadError) -> (url: SourceURL, credential: Credential?) {
        try parse(text).mapError { DownloadError.requestInvalid($0.failure(of: text)) }.get()
    }

    /// Makes the URL of a source, for ``DownloadRequest/mirrors`` and the like.
    /// - Throws: ``DownloadError/requestInvalid(_:)`` if the URL is malformed, or if its scheme is not supported.
    public init(_ text: String) throws(DownloadError) { self = try Self.parsed(text).url }

    /// Makes the URL of a source from a URL of Foundation. Throws as ``init(_:)-(String)`` does.
    public init(_ url: URL) throws(DownloadError) { try self.init(url.absoluteString) }
}

extension URL {
    /// Makes a URL of Foundation from the URL of a source; nil if Foundation refuses the text.
    public init?(_ source: SourceURL) { self.init(string: source.string) }
}

extension SourceURL: Codable {
    public init(from decoder: any Decoder) throws {
        let text = try String(from: decoder)
        guard case .success(let parsed) = Self.parse(text) else { throw decoder.failure("not a URL: \(text)") }
        self = parsed.url
    }

    public func encode(to encoder: any Encoder) throws { try string.encode(to: encoder) }
}

extension SourceURL: CustomStringConvertible {
    public var description: String { string }
}
