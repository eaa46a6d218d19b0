import Foundation

/// Which names the server answers to, and which web pages may ask. A browser sends the requests of any page that it shows, so
/// a page that nobody trusts must not be able to have something done.
struct AccessRule: Sendable {
    /// In lower case.
    private let hosts: Set<String>
    private let origins: Set<String>

    init(_ configuration: RPCConfiguration) {
        hosts = Set(configuration.hosts.map { $0.lowercased() })
        origins = Set(configuration.origins.map { $0.lowercased() })
    }

    /// Schemes of the pages of browser extensions, which their user has installed.
    private static let extensions = ["chrome-extension", "moz-extension", "safari-web-extension"]

    /// Judges the `Host` fields of a request. A name that is not known may have been pointed at this machine by its owner
    /// (DNS rebinding), so that the owner's page counts as the server's own. A numeric address cannot be pointed anywhere.
    func answersTo(_ fields: [String]) -> Bool { host(fields) != nil }

    private func host(_ fields: [String]) -> HostName? {
        guard fields.count == 1, let host = HostName(authority: fields[0]) else { return nil }
        return host.isAddress || host.name == "localhost" || hosts.contains(host.name) ? host : nil
    }

    /// Judges the `Origin` fields of a request whose `Host` fields were judged before.
    /// - Returns: true for programs, which send none; for the server's own page; for extensions; and for the pages that the
    ///   user has named. `null` is any page that hides where it is from.
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

    /// Whether a request is of a program, or of the server's own page; some programs name the server itself as their origin.
    func isOwn(_ origins: [String], host fields: [String]) -> Bool {
        origins.isEmpty || origins.count == 1 && isOwn(origins[0].lowercased(), fields)
    }

    /// Compares the authorities as they are written, ports included. Behind a reverse proxy that encrypts, the page is from
    /// https, and `Host` is the one that the proxy passes on.
    private func isOwn(_ origin: String, _ fields: [String]) -> Bool {
        guard host(fields) != nil, HostName(origin: origin) != nil, let mark = origin.range(of: "://") else {
            return false
        }
        return origin[mark.upperBound...] == fields[0].lowercased()
    }
}
