/// Hosts by name, for settings: one name, or several by `*`, which stands for any letters and dots.
package struct HostPattern: Hashable, Sendable {
    /// In lower case and ASCII, as in ``SourceURL/host``.
    package let text: String

    /// Nil when it can be no host: a URL, or a name with a port.
    package init?(_ text: String) {
        let lower = text.lowercased()
        if !lower.isEmpty, lower.utf8.allSatisfy(Self.isPlain) {
            self.text = lower
            return
        }
        // Names in other scripts, and IPv6 addresses: the part that no wildcard may stand in.
        let prefix = lower.hasPrefix("*.") ? "*." : ""
        let name = lower.dropFirst(prefix.count)
        guard !name.isEmpty, !name.contains("*"), !name.contains("/"), !name.contains("@"),
            case .success(let parsed) = SourceURL.parse("https://\(name)/"), parsed.url.port == 443,
            parsed.url.host.utf8.last != UInt8(ascii: ":"), !name.hasSuffix(":443")
        else { return nil }
        self.text = prefix + parsed.url.host
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "*.-_".utf8.contains(byte)
        }
    }

    private var isExact: Bool { !text.utf8.contains(UInt8(ascii: "*")) }

    /// - Parameter host: as in ``SourceURL/host``.
    package func matches(_ host: String) -> Bool {
        // A name with a dot at its end is the same host.
        let name = host.utf8.last == UInt8(ascii: ".") ? host.utf8.dropLast() : host.utf8[...]
        return isExact ? text.utf8.elementsEqual(name) : Self.matches(text.utf8[...], name)
    }

    /// Returns whether a text matches a pattern in which `*` stands for any bytes, none included.
    ///
    /// Each `*` takes as little as it can; where that fails, the last one takes more.
    package static func matches(_ pattern: Substring.UTF8View, _ name: Substring.UTF8View) -> Bool {
        var (pattern, name) = (pattern, name)
        var retry: (pattern: Substring.UTF8View, name: Substring.UTF8View)?
        while let byte = name.first {
            if pattern.first == UInt8(ascii: "*") {
                pattern.removeFirst()
                retry = (pattern, name)
            } else if pattern.first == byte {
                pattern.removeFirst()
                name.removeFirst()
            } else if let last = retry {
                retry?.name.removeFirst()
                (pattern, name) = (last.pattern, last.name.dropFirst())
            } else {
                return false
            }
        }
        return pattern.allSatisfy { $0 == UInt8(ascii: "*") }
    }

    /// Says more about a host that both match: a name beats a pattern, a longer pattern a shorter one.
    package func isCloser(than other: HostPattern) -> Bool {
        (isExact ? 1 : 0, text.utf8.count, text) > (other.isExact ? 1 : 0, other.text.utf8.count, other.text)
    }
}

extension [HostPattern: Int] {
    /// What the closest pattern says.
    func value(for host: String) -> Int? {
        isEmpty ? nil : filter { $0.key.matches(host) }.max { $1.key.isCloser(than: $0.key) }?.value
    }
}
