import Foundation
import DownloadCore
import Glibc

/// The host in the `Host` or `Origin` field of a request, and the port after it.
struct HostName {
    /// The name in lower case. An IPv6 address has no brackets.
    let name: String
    /// The text between the colon and the end; nil without a colon.
    let port: Substring?

    /// Reads `name`, `name:port`, `[address]` or `[address]:port` (RFC 9110, section 7.2), where the port may be empty
    /// (RFC 3986, section 3.2.3). Returns nil for anything else.
    init?(authority: String) {
        var host = Substring(authority)
        var port: Substring?
        if host.hasPrefix("[") {
            guard let end = host.firstIndex(of: "]") else { return nil }
            let rest = host[host.index(after: end)...]
            host = host[host.index(after: host.startIndex)..<end]
            guard rest.isEmpty || rest.hasPrefix(":"), Self.isAddress(String(host)), host.contains(":") else {
                return nil
            }
            port = rest.isEmpty ? nil : rest.dropFirst()
        } else if let colon = host.firstIndex(of: ":") {
            port = host[host.index(after: colon)...]
            host = host[..<colon]
        }
        if let port, !port.utf8.allSatisfy({ (48...57).contains($0) }) { return nil }
        let isPlain = host.utf8.allSatisfy {
            (0x61...0x7A).contains($0) || (0x41...0x5A).contains($0) || (48...58).contains($0)
                || "-._".utf8.contains($0)
        }
        // The name with a final dot is the same name, as an absolute one (RFC 1034 section 3.1).
        if host.hasSuffix(".") { host = host.dropLast() }
        guard !host.isEmpty, isPlain else { return nil }
        (name, self.port) = (host.lowercased(), port)
    }

    /// Reads the origin of a web page: `scheme://authority` and nothing else.
    init?(origin: String) {
        guard let mark = origin.range(of: "://"), ["http", "https"].contains(origin[..<mark.lowerBound].lowercased())
        else { return nil }
        self.init(authority: String(origin[mark.upperBound...]))
    }

    static func isAddress(_ text: String) -> Bool {
        var address = in6_addr()
        return inet_pton(AF_INET, text, &address) == 1 || inet_pton(AF_INET6, text, &address) == 1
    }

    var isAddress: Bool { Self.isAddress(name) }
}
