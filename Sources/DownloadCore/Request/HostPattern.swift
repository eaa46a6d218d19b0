/// A pattern for the names of hosts in settings: a name, or a text with `*`, which stands for any characters.
package struct HostPattern: Hashable, Sendable {
    /// The pattern in lower case and ASCII, as in ``SourceURL/host``.
    package let text: String

    /// Returns nil if the text cannot be a host, such as a URL or a name with a port.
    package init?(_ text: String) {
        let lower = text.lowercased()
        if !lower.isEmpty, lower.utf8.allSatisfy({ $0.isLetterOrDigit || "*.-_".utf8.contains($0) }) {
            self.text = lower
            return
        }
        // The code below is for names in other scripts and for IPv6 addresses. They may contain no wildcard except `*.`
        // at the beginning.
        let prefix = lower.hasPrefix("*.") ? "*." : ""
        let name = lower.dropFirst(prefix.count)
        guard !name.isEmpty, !name.contains("*"), !name.contains("/"), !name.contains("@"),
            case .success(let parsed) = SourceURL.parse("https://\(name)/"), parsed.url.port == 443,
            parsed.url.host.utf8.last != UInt8(ascii: ":"), !name.hasSuffix(":443")
        else { return nil }
        self.text = prefix + parsed.url.host
    }

    private var isExact: Bool { !text.utf8.contains(UInt8(ascii: "*")) }

    /// - Parameter host: The host, as in ``SourceURL/host``.
    package func matches(_ host: String) -> Bool {
        // A name with a dot at its end is the same host.
        let name = host.utf8.last == UInt8(ascii: ".") ? host.utf8.dropLast() : host.utf8[...]
        return isExact ? text.utf8.elementsEqual(name) : Self.matches(text.utf8[...], name)
    }

    /// Returns whether a text matches a pattern in which `*` stands for any number of bytes, or for none.
    ///
    /// Each `*` matches as few bytes as possible. If the rest of the pattern does not match, the last `*` matches more
    /// bytes.
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

    /// Returns whether this pattern counts more than another that matches the same host. A name counts more than a
    /// pattern with `*`, and a longer pattern more than a shorter one.
    package func isCloser(than other: HostPattern) -> Bool {
        (isExact ? 1 : 0, text.utf8.count, text) > (other.isExact ? 1 : 0, other.text.utf8.count, other.text)
    }
}

extension [HostPattern: Int] {
    /// Returns the value of the closest pattern that matches the host.
    package func value(for host: String) -> Int? {
        isEmpty ? nil : filter { $0.key.matches(host) }.max { $1.key.isCloser(than: $0.key) }?.value
    }
}
