import Foundation

/// The rule that decides by `Host` and `Origin` which requests are answered. A browser sends the requests of any page
/// that it shows, so an untrusted page must not be able to change anything.
struct AccessRule: Sendable {
    /// The names of the server, in lower case.
    private let hosts: Set<String>
    private let origins: Set<String>

    init(_ configuration: RPCConfiguration) {
        hosts = Set(configuration.hosts.map { $0.lowercased() })
        origins = Set(configuration.origins.map { $0.lowercased() })
    }

    /// The schemes of the pages of browser extensions, which the user has installed.
    private static let extensions = ["chrome-extension", "moz-extension", "safari-web-extension"]

    /// Returns whether the `Host` fields of a request name this server. Unknown names are refused: the owner of a name
    /// could let it point to this machine (DNS rebinding), so that the owner's page would count as the server's own
    /// page. With a numeric address, this attack is impossible.
    func answersTo(_ fields: [String]) -> Bool {
        guard fields.count == 1, let host = HostName(authority: fields[0]) else { return false }
        return host.isAddress || host.name == "localhost" || hosts.contains(host.name)
    }

    /// Returns whether a request with these `Origin` fields is permitted. The `Host` fields must have been checked
    /// before.
    /// - Returns: True for programs, which send no origin, for the server's own page, for browser extensions, and for
    ///   the origins in the configuration. The origin `null` means any page that hides its origin.
    func permits(_ origins: [String], host fields: [String]) -> Bool {
        if origins.isEmpty { return true }
        guard origins.count == 1 else { return false }
        let origin = origins[0].lowercased()
        if self.origins.contains(origin) { return true }
        if let mark = origin.range(of: "://"), Self.extensions.contains(String(origin[..<mark.lowerBound])) {
            return true
        }
        return isOwn(origin, fields)
    }

    /// Returns whether a request comes from a program or from the server's own page. Some programs send the server
    /// itself as their origin.
    func isOwn(_ origins: [String], host fields: [String]) -> Bool {
        origins.isEmpty || origins.count == 1 && isOwn(origins[0].lowercased(), fields)
    }

    /// Returns whether the origin is the server itself. `Host` and the authority of the origin must be the same text,
    /// including the port. The schemes are not compared, because behind a reverse proxy the page may have the scheme
    /// https.
    private func isOwn(_ origin: String, _ fields: [String]) -> Bool {
        guard answersTo(fields), HostName(origin: origin) != nil, let mark = origin.range(of: "://") else {
            return false
        }
        return origin[mark.upperBound...] == fields[0].lowercased()
    }
}
