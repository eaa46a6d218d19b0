import DownloadKit
import Foundation

/// A URL without a scheme, as users type it for curl and wget: `example.org/x`, `127.0.0.1:8080/x`.
struct SchemelessAddress: Equatable {
    let text: String
    let host: String
    let port: Int?

    /// Returns the schemes to try, in order. Without a port, https is tried first, and then http. Port 443 means https.
    /// Any other port means http, which is also what curl uses.
    /// - Parameter allowed: The schemes that the user's options allow. If the options exclude all of the schemes above,
    ///   https is returned if it is allowed, otherwise http if it is allowed.
    func schemes(allowed: [String]) -> [String] {
        let usual =
            switch port {
            case nil: ["https", "http"]
            case 443: ["https"]
            default: ["http"]
            }
        let left = usual.filter(allowed.contains)
        return left.isEmpty ? Array(["https", "http"].filter(allowed.contains).prefix(1)) : left
    }

    /// Whether the host is this machine. Data sent to this machine cannot be read on the way.
    var isLoopback: Bool {
        host == "localhost" || host.hasSuffix(".localhost") || host == "[::1]"
            || Self.isIPv4(host) && host.hasPrefix("127.")
    }

    /// Returns nil for URLs with a scheme, paths, invalid ports, user information, and names that are probably not
    /// hosts (see `isHost`).
    init?(_ text: String) {
        // This comes first because trimming is slow: Foundation looks up a string type at run time.
        if text.contains("://") { return nil }
        let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard let first = text.first, !"/.~-".contains(first),
            text.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F })
        else { return nil }
        // Addresses with user information are refused. If the host after the `@` were mistyped, dlm would send the
        // password to a wrong host.
        let authority = text.prefix { !"/?#".contains($0) }
        guard !authority.contains("@"), !authority.contains("\\") else { return nil }
        let host = authority.first == "[" ? authority.prefix { $0 != "]" } + "]" : authority.prefix { $0 != ":" }
        let rest = authority.dropFirst(host.count)
        guard let port = Self.port(rest), Self.isHost(host, hasPort: port > 0) else { return nil }
        (self.text, self.host, self.port) = (text, host.lowercased(), port > 0 ? port : nil)
    }

    /// Returns the port, 0 if none is written, or nil if the text is not a port.
    private static func port(_ text: Substring) -> Int? {
        if text.isEmpty { return 0 }
        guard text.first == ":", text.dropFirst().utf8.allSatisfy(\.isDigit) else { return nil }
        return UInt16(text.dropFirst()).flatMap { $0 > 0 ? Int($0) : nil }
    }

    /// Returns whether a text is a host. A name without a dot, such as `lst`, is a host only if a port follows.
    /// Otherwise the name is probably a mistyped command. `localhost` is always a host.
    private static func isHost(_ text: Substring, hasPort: Bool) -> Bool {
        if text.first == "[" {
            return text.dropFirst().dropLast().contains(":")
                && text.dropFirst().dropLast().utf8.allSatisfy {
                    ":.%".utf8.contains($0) || $0.isDigit || (65...70).contains($0 & 0xDF)
                }
        }
        if isIPv4(text) || text.lowercased() == "localhost" { return true }
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        guard let last = labels.last, last.contains(where: \.isLetter),
            labels.allSatisfy({ label in
                !label.isEmpty && label.allSatisfy { $0.isLetter || $0.isNumber || "-_".contains($0) }
            })
        else { return false }
        return hasPort || labels.count > 1 && last.count > 1
    }

    private static func isIPv4(_ text: some StringProtocol) -> Bool {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4
            && parts.allSatisfy { $0.utf8.allSatisfy(\.isDigit) && UInt8($0) != nil }
    }

    /// Returns whether the first word of a command line can only be a URL, because it has a scheme, a port or a path.
    static func isClearlyURL(_ word: String) -> Bool {
        if let mark = word.range(of: "://") {
            return mark.lowerBound > word.startIndex
                && word[..<mark.lowerBound].utf8.allSatisfy { Character(Unicode.Scalar($0)).isScheme }
        }
        if word.lowercased().hasPrefix("magnet:") { return true }
        guard let address = SchemelessAddress(word) else { return false }
        return address.port != nil || address.text.contains { "/?#".contains($0) }
    }
}

extension Character {
    /// Whether the character may be part of a scheme (RFC 3986 section 3.1).
    fileprivate var isScheme: Bool { isASCII && (isLetter || isNumber || "+-.".contains(self)) }
}
