import Foundation

/// A URL without its scheme, as it is typed for curl and wget: `example.org/x`, `127.0.0.1:8080/x`.
struct SchemelessAddress: Equatable {
    let text: String
    let host: String
    let port: Int?

    /// The schemes to try, in their order. Where no port is named that is https before http; port 443 means https, and
    /// any other port http, as it does for curl.
    /// - Parameter allowed: the schemes that the user's options leave; where none of the usual ones is left, these count.
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

    /// What is sent to this machine is read by nobody on the way.
    var isLoopback: Bool {
        host == "localhost" || host.hasSuffix(".localhost") || host == "[::1]"
            || Self.isIPv4(host) && host.hasPrefix("127.")
    }

    /// Returns nil for what has a scheme, for paths, and for names that no server can have.
    init?(_ text: String) {
        let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard let first = text.first, !"/.~-".contains(first), !text.contains("://"),
            text.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F })
        else { return nil }
        // User information is never guessed: a password would go to whatever host is found behind it.
        let authority = text.prefix { !"/?#".contains($0) }
        guard !authority.contains("@"), !authority.contains("\\") else { return nil }
        let host = authority.first == "[" ? authority.prefix { $0 != "]" } + "]" : authority.prefix { $0 != ":" }
        let rest = authority.dropFirst(host.count)
        guard let port = Self.port(rest), Self.isHost(host, hasPort: port > 0) else { return nil }
        (self.text, self.host, self.port) = (text, host.lowercased(), port > 0 ? port : nil)
    }

    /// 0 where none is written.
    private static func port(_ text: Substring) -> Int? {
        if text.isEmpty { return 0 }
        guard text.first == ":", text.dropFirst().utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return UInt16(text.dropFirst()).flatMap { $0 > 0 ? Int($0) : nil }
    }

    /// A name without a dot is a host only where a port says so: `lst` is a slip of the finger.
    private static func isHost(_ text: Substring, hasPort: Bool) -> Bool {
        if text.first == "[" {
            return text.dropFirst().dropLast().contains(":")
                && text.dropFirst().dropLast().utf8.allSatisfy {
                    ":.%".utf8.contains($0) || (48...57).contains($0) || (65...70).contains($0 & 0xDF)
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
            && parts.allSatisfy { $0.utf8.allSatisfy { (48...57).contains($0) } && UInt8($0) != nil }
    }

    /// Whether a word in the place of a command can be nothing but a URL: it has a scheme, a port, or a path.
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
    /// RFC 3986 section 3.1.
    fileprivate var isScheme: Bool { isASCII && (isLetter || isNumber || "+-.".contains(self)) }
}
