extension SourceURL {
    /// Parses the form that most URLs have: http or https, the host in ASCII and lower case, no user information, no
    /// fragment, nothing to escape. This parser avoids Foundation, which takes ten times as long. Nil for any other
    /// URL.
    package static func plain(_ text: String) -> SourceURL? {
        guard let found = text.utf8.withContiguousStorageIfAvailable(parts), let parts = found else { return nil }
        let utf8 = text.utf8
        func part(_ range: Range<Int>) -> String {
            let start = utf8.index(utf8.startIndex, offsetBy: range.lowerBound)
            return String(text[start..<utf8.index(start, offsetBy: range.count)])
        }
        return SourceURL(
            string: text, scheme: parts.isSecure ? "https" : "http", host: part(parts.host), port: parts.port,
            path: part(parts.path))
    }

    private struct Parts {
        let isSecure: Bool
        let port: Int
        /// The ranges of the host and the path, as offsets in bytes.
        let host: Range<Int>
        let path: Range<Int>
    }

    private static func parts(_ bytes: UnsafeBufferPointer<UInt8>) -> Parts? {
        let isSecure = bytes.starts(with: "https://".utf8)
        guard isSecure || bytes.starts(with: "http://".utf8) else { return nil }
        let start = isSecure ? 8 : 7
        guard let slash = bytes[start...].firstIndex(of: UInt8(ascii: "/")) else { return nil }
        let host = bytes[start..<slash].prefix { $0 != UInt8(ascii: ":") }
        guard !host.isEmpty, host.allSatisfy(isLowerHost), !isEncodedHost(host) else { return nil }
        var port = isSecure ? 443 : 80
        if host.endIndex < slash {
            guard let number = self.port(bytes[(host.endIndex + 1)..<slash]) else { return nil }
            port = number
        }
        let rest = bytes[slash...]
        guard rest.allSatisfy(isPlainInPath) else { return nil }
        let path = slash..<(rest.firstIndex(of: UInt8(ascii: "?")) ?? rest.endIndex)
        return Parts(isSecure: isSecure, port: port, host: start..<host.endIndex, path: path)
    }

    /// Parses a port in its usual form, in decimal digits.
    private static func port(_ digits: Slice<UnsafeBufferPointer<UInt8>>) -> Int? {
        guard (1...5).contains(digits.count), digits.first != UInt8(ascii: "0"), digits.allSatisfy(\.isDigit) else {
            return nil
        }
        let number = digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        return number <= 65535 ? number : nil
    }

    private static func isLowerHost(_ byte: UInt8) -> Bool {
        byte.isLowercaseLetter || byte.isDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
    }

    private static func isEncodedHost(_ host: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        host.contains(UInt8(ascii: "-")) && host.indices.contains { host[$0...].starts(with: "xn--".utf8) }
    }

    private static func isPlainInPath(_ byte: UInt8) -> Bool { isPlain(byte) && byte != UInt8(ascii: "#") }
}
